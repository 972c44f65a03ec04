"""Measures of answer and retrieval quality; not part of the product."""
