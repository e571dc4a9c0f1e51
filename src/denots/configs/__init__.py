"""The published numbers, one short YAML file per data set and per backbone, for `denots train`."""
