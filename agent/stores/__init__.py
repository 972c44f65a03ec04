"""Adapters of Table, Blobs, Queue, Secrets, Cipher, Clock and Ids, one file per technology."""
