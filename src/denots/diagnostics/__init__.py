"""What can be known about a user's data before a model is chosen."""
