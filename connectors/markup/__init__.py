"""The model's markdown, read as it comes and written as a chat platform's own text."""
