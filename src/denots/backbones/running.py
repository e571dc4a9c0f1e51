"""What a causal backbone adds to be asked while rows come in: its state, carried from row to row."""

from denots.inference.running import Memory, Running

__all__ = ["Memory", "Running"]
