"""The offline model: it plans a search and quotes what was found."""
