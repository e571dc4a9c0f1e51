"""Heads: from a table of features to numbers, without any knowledge of series."""
