"""Where do rows rest? Landing, store, ledger and publishing; the only room that knows DuckDB."""
