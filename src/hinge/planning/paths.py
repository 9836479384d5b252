Limit=None
