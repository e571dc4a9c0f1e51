"""Answers while observations come in."""

from denots.stream.stream import Answer, Stream

__all__ = ["Answer", "Stream"]
