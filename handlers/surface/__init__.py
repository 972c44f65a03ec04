"""What people do beside asking: commands, buttons, and what the bot says to them."""
