def remarks(series):
    return []
