"""How is what is missing or due fetched, loaded and published?"""
