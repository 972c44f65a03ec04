"""The enterprise knowledge base: load, chunk, index, search."""
