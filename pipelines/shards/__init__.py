"""Shards: the file that names them, what runs them, and customers moving between them."""
