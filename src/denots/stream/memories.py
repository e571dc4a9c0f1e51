"""What a backbone remembers of many series, in a few arrays: a place for each state that is kept."""

import numpy as np

from denots.inference.running import Memory


class Memories:
    """States by place; places that are given back are used again, so that memory is bounded by the most that were kept at once."""

    def __init__(self) -> None:
        self._arrays: Memory = {}
        self._free: list[int] = []
        self._size = 0

    def put(self, memory: Memory) -> list[int]:
        """Keep a state for each series, and tell where."""
        count = len(next(iter(memory.values())))
        if len(self._free) < count:
            self._grow(memory, count - len(self._free))
        places = self._free[-count:]
        del self._free[-count:]
        for name, array in memory.items():
            self._arrays[name][places] = array
        return places

    def get(self, places: list[int]) -> Memory:
        chosen = np.array(places, dtype=np.int64)
        return {name: array[chosen] for name, array in self._arrays.items()}

    def drop(self, places: list[int]) -> None:
        self._free += places

    def _grow(self, like: Memory, missing: int) -> None:
        size = self._size + max(missing, self._size // 2, 64)
        for name, array in like.items():
            grown = np.empty((size, *array.shape[1:]), dtype=array.dtype)
            if self._size:
                grown[: self._size] = self._arrays[name]
            self._arrays[name] = grown
        self._free += range(size - 1, self._size - 1, -1)
        self._size = size
