"""A Feishu and a Slack workspace on loopback. It speaks HTTP only and imports nothing of the product."""
