"""What both simulated platforms share: clock, people, chats, messages, files, feeds."""
