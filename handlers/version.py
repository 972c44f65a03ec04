"""The version of this code, the same as in pyproject.toml."""

VERSION = "0.1.0"
