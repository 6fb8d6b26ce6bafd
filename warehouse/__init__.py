"""Storage: landing, the working file with its ledger, and publishing; the only room that knows DuckDB."""
