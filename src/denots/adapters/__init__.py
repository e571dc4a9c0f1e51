"""The estimators as members of other libraries; each file needs its library, and an extra of its name brings it."""
