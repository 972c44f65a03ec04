"""The Slack half of the simulator: its Web API and the events it sends."""
