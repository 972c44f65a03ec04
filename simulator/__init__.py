"""A Feishu and a Slack workspace on loopback, over HTTP only, free of the product's code."""
