"""Claude, by the vendor and on Bedrock."""
