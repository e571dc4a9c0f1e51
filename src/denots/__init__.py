"""Learn from irregular time series."""
