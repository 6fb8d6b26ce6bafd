"""How is the Connect service asked? One client, its pace and its errors."""
