"""The /sim control API that the chat page and the tests drive."""
