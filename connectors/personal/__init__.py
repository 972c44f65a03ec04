"""What the connectors of both platforms share when they read as the asker."""
