"""Systems and their peers against each other: the same sets, the same gaps, one record a match, standings."""
