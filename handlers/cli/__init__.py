"""The command line: plumbline ask, demo, serve, kb."""
