"""The knowledge base in an OpenSearch domain or serverless collection."""
