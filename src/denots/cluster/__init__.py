"""Work on more than one machine."""
