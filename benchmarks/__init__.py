"""Measurements that anyone can rerun: `python -m benchmarks.solver`, `.scaling` and `.epoch`."""
