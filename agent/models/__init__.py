"""Adapters of the Model port, one file per technology."""
