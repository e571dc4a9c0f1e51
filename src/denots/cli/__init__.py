"""The command line: `denots fit`, `predict`, `evaluate`, `data`, `train`, `info`."""

from denots.cli.app import app, main

__all__ = ["app", "main"]
