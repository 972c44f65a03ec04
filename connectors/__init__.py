"""What belongs to a person or a platform: chat, events, and the asker's own data."""
