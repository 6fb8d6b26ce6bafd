"""How does the service word what it knows? One file per family of reports."""
