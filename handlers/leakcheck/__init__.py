"""The leak check: canary words, who may read them, and everything that a turn leaves behind."""
