"""The command line: `denots fit`, `predict`, `evaluate`, `data`, `train`, `reproduce`, `report`, `info`."""

from denots.cli.app import app, main

__all__ = ["app", "main"]
