"""From a data set and a system to one record."""
