"""The edge: one file per function; wiring.py is the only composition root."""
