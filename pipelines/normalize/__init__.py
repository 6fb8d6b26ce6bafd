"""How does a JSON answer become tables, with nothing lost?"""
