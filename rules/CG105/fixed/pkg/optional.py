FastEngine = None
