"""Where do rows rest? Landing, ledger, replacing months and publishing; the only room that knows DuckDB."""
