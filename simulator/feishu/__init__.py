"""The Feishu half of the simulator: its HTTP API and the events it sends."""
