"""Which column of a table is what, guessed from its name and its content where nobody says."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from denots.data.column import Columns, is_integer, kind_of
from denots.data.groups import Groups, read_groups
from denots.errors import InvalidTable
from denots.registry import listed

ID_NAMES = ("id", "patient", "subject", "series", "unit", "record", "recordid", "stay", "machine", "device", "case")
TIME_NAMES = (
    "time",
    "timestamp",
    "datetime",
    "date",
    "when",
    "t",
    "hour",
    "hours",
    "minutes",
    "seconds",
    "day",
    "days",
)
TARGET_NAMES = ("target", "label", "outcome", "class", "survival", "death")  # or a name that ends like this
CLASSES = 20  # a column of more different words is no target
GLANCE = 5000  # rows that already show of most columns that they change within a series


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a table by their part; `guessed` are the parts that nobody named."""

    id: str | None = None
    time: str | None = None
    target: str | None = None
    static: tuple[str, ...] = ()
    variable: str | None = None
    value: str | None = None
    guessed: tuple[str, ...] = ()

    @property
    def columns(self) -> set[str]:
        named = (self.id, self.time, self.target, self.variable, self.value, *self.static)
        return {name for name in named if name is not None}


def guess_roles(columns: Columns, roles: Roles) -> tuple[Roles, Groups]:
    """The roles with a guess for every open one, and the rows grouped by the id."""
    for role in ("id", "time", "target", "variable", "value"):
        if getattr(roles, role) is not None:
            columns.require(getattr(roles, role), role)
    for name in roles.static:
        columns.require(name, "static")
    if roles.id is None:
        name = _found(_named(columns, roles, ID_NAMES) or _first(columns, roles, _is_id), "id")
        roles = replace(roles, id=name, guessed=(*roles.guessed, "id"))
    if roles.time is None:
        name = _found(_named(columns, roles, TIME_NAMES) or _first(columns, roles, _is_date), "time")
        roles = replace(roles, time=name, guessed=(*roles.guessed, "time"))
    assert roles.id is not None
    groups = read_groups(columns[roles.id], roles.id)
    if roles.variable is None and {"variable", "value"} <= set(columns.names) - roles.columns:
        roles = replace(roles, variable="variable", value="value", guessed=(*roles.guessed, "variable", "value"))
    if len(groups.ids) < len(groups.codes):
        steady = [name for name in columns.names if name not in roles.columns and _is_steady(columns, name, groups)]
        roles = _with_steady(columns, roles, steady)
    return roles, groups


def _found(name: str | None, role: str) -> str:
    if name is None:
        raise InvalidTable(f"no column looks like the {role}; name it with --{role}.")
    return name


def _with_steady(columns: Columns, roles: Roles, steady: list[str]) -> Roles:
    """Of the columns that never change within a series, one may be the target; the others are static."""
    if roles.target is None:
        target = next((name for name in steady if _stem(name).endswith(TARGET_NAMES)), None)
        target = target or next((name for name in steady if _is_label(columns, name)), None)
        if target is not None:
            roles = replace(roles, target=target, guessed=(*roles.guessed, "target"))
    if not roles.static:
        others = tuple(name for name in steady if name != roles.target)
        roles = replace(roles, static=others, guessed=(*roles.guessed, *(("static",) if others else ())))
    return roles


def _named(columns: Columns, roles: Roles, known: tuple[str, ...]) -> str | None:
    free = [name for name in columns.names if name not in roles.columns]
    return next((name for word in known for name in free if _stem(name) == word), None)


def _first(columns: Columns, roles: Roles, fits: Callable[[Columns, str], bool]) -> str | None:
    return next((name for name in columns.names if name not in roles.columns and fits(columns, name)), None)


def _stem(name: str) -> str:
    """A column name without case and without a trailing id: `Patient_ID` is `patient`, `id` stays."""
    plain = name.strip().lower().replace(" ", "_")
    return plain.removesuffix("_id") or plain


def _is_id(columns: Columns, name: str) -> bool:
    column = columns[name]
    if kind_of(column) != "text" and not is_integer(column):
        return False
    return 1 < column.nunique() <= len(column) / 2


def _is_date(columns: Columns, name: str) -> bool:
    column = columns[name]
    return kind_of(column) == "date" or (
        kind_of(column) == "text" and bool(column.astype(str).str.match(r"\d{4}-\d\d-\d\d").all())
    )


def _is_label(columns: Columns, name: str) -> bool:
    column = columns[name]
    return kind_of(column) in ("text", "bool") and 1 < column.nunique() <= CLASSES


def _is_steady(columns: Columns, name: str, groups: Groups) -> bool:
    """Whether a column never changes within a series but differs between them."""
    import pandas as pd

    for rows in (slice(GLANCE), slice(None)):
        codes = pd.factorize(columns[name].iloc[rows])[0]
        own = groups.codes[rows]
        first = np.unique(own, return_index=True)[1]
        heads = codes[first]
        lookup = np.zeros(int(own.max()) + 1, dtype=np.int64)
        lookup[own[first]] = heads
        if (codes != lookup[own]).any():
            return False
    return len(set(heads.tolist()) - {-1}) > 1


def role_words(roles: Roles) -> dict[str, str]:
    """Each role and its column in words, with a mark where it was guessed."""
    found = {
        "id": roles.id,
        "time": roles.time,
        "target": roles.target,
        "static": listed(roles.static) or None,
        "variable": roles.variable,
        "value": roles.value,
    }
    return {
        role: f"{name} (guessed)" if role in roles.guessed else name for role, name in found.items() if name is not None
    }
