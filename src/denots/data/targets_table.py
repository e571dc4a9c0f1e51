"""Targets in a table of their own: one row per series, joined to the table of observations."""

from dataclasses import replace
from typing import TYPE_CHECKING

from denots.data.schema import TableSchema
from denots.errors import InvalidTable, InvalidTarget
from denots.registry import listed, lookup

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 3  # ids in an error


def add_targets(
    frame: "pd.DataFrame", targets: "pd.DataFrame", schema: TableSchema
) -> tuple["pd.DataFrame", TableSchema]:
    """The table of observations with the targets of each series, and the schema that names their columns.

    The target may stay unnamed where the second table has one column beside the id. A series that the
    second table does not list gets an empty target; what is only listed there is passed over.
    """
    columns = dict.fromkeys(map(str, frame.columns), True)
    lookup(columns, schema.id, "id column")
    lookup(dict.fromkeys(map(str, targets.columns), True), schema.id, "id column in the table of targets:")
    others = [str(name) for name in targets.columns if name != schema.id]
    if schema.target is None and len(others) != 1:
        raise InvalidTable(
            f"the table of targets has {len(others)} columns beside the id, {listed(others)}; "
            "name those to learn (target=..., --target)."
        )
    chosen = schema.targets or (others[0],)
    for target in chosen:
        lookup(dict.fromkeys(others, True), target, "target column in the table of targets:")
        if target in columns:
            raise InvalidTable(f"column {target!r} is in both tables; drop it from one of them.")
    keys = targets[schema.id].astype(str)
    twice = keys[keys.duplicated()]
    if len(twice):
        raise InvalidTarget(f"the table of targets has several rows for series {twice.iloc[0]!r}; give one row per id.")
    owner = frame[schema.id].astype(str)
    if not owner.isin(keys).any():
        theirs, ours = (listed([repr(name) for name in ids.unique()[:SHOWN]]) for ids in (keys, owner))
        raise InvalidTarget(
            f"the table of targets tells of no series of the other table: its ids are such as {theirs or 'none'}, those of the series such as "
            f"{ours}; write them alike."
        )
    told = {target: owner.map(targets[target].set_axis(keys)) for target in chosen}
    return frame.assign(**told), replace(schema, target=chosen)
