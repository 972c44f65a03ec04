"""Long connections: Feishu's websocket and Slack's Socket Mode."""
