"""Long connections: events without a public address, for a bot on one machine."""
