"""Gradient-boosted trees as LightGBM writes them, read and summed without it, to the last bit as it does."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denots import kernels
from denots.shapes import FloatArray

_NODES = {  # what is read of each node
    "feature": ("split_feature", np.int32),
    "threshold": ("threshold", np.float64),
    "decision": ("decision_type", np.uint8),
    "left": ("left_child", np.int32),
    "right": ("right_child", np.int32),
}


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """A forest, and the text that it was read from.

    columns: of the tables that it reads. outputs: one, or one for each class; a round has a tree for each.
    arrays: nodes and leaves of all trees, end to end, as the kernel takes them.
    """

    text: str
    columns: int
    outputs: int
    arrays: dict[str, npt.NDArray[Any]]

    @classmethod
    def read(cls, text: str) -> "BoostedTrees":
        """Anything but numerical splits with constant leaves is refused as ValueError."""
        head, *parts = text.split("\nTree=")
        try:
            facts = _facts(head)
            trees = [_tree(_facts(part.partition("\n\n")[0])) for part in parts]
            columns, outputs = int(facts["max_feature_idx"]) + 1, int(facts["num_tree_per_iteration"])
        except (KeyError, ValueError, OverflowError) as error:
            raise ValueError(f"trees cannot be read ({error})") from error
        if "end of trees" not in (parts or [head])[-1] or outputs < 1 or len(trees) % outputs:
            raise ValueError("trees cannot be read (the text is cut short)")
        arrays = {name: np.concatenate([np.empty(0, kind), *(tree[name] for tree in trees)]) for name, kind in _KINDS}
        for name, member in (("nodes", "threshold"), ("leaves", "value")):
            arrays[name] = np.cumsum([0, *(len(tree[member]) for tree in trees)])
        found = cls(text, columns, outputs, arrays)
        found.sums(np.zeros((1, columns)))  # the kernel refuses trees that lead out of themselves
        return found

    @property
    def leaves(self) -> int:
        return len(self.arrays["value"])

    def sums(self, table: FloatArray) -> FloatArray:
        """What all trees together say of each row [n, outputs]."""
        if table.shape[1] != self.columns:
            raise ValueError(f"the trees read {self.columns} columns, and the table has {table.shape[1]}")
        return kernels.sum_trees(table, self.outputs, **self.arrays)


_KINDS = (*((name, kind) for name, (_, kind) in _NODES.items()), ("value", np.float64))


def _facts(lines: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in lines.split("\n") if "=" in line)


def _tree(facts: dict[str, str]) -> dict[str, npt.NDArray[Any]]:
    if int(facts["num_cat"]) or int(facts.get("is_linear", "0")):
        raise ValueError("it has categories or linear leaves")
    leaves = int(facts["num_leaves"])
    given = {name: _numbers(facts.get(word, ""), kind) for name, (word, kind) in _NODES.items()} if leaves > 1 else {}
    tree = {name: given.get(name, np.empty(0, kind)) for name, kind in _KINDS[:-1]}
    tree["value"] = _numbers(facts["leaf_value"], np.float64)
    if any(len(tree[name]) != leaves - 1 for name in _NODES) or len(tree["value"]) != leaves:
        raise ValueError("a tree has not as many nodes as it says")
    return tree


def _numbers(text: str, kind: Any) -> npt.NDArray[Any]:
    return np.array([float(word) if kind is np.float64 else int(word) for word in text.split()], dtype=kind)
