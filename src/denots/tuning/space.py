"""Which options are searched, and where: as they say themselves, or as somebody asks."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from denots.errors import InvalidOption
from denots.options import Choice, Range, read_value, tunables
from denots.systems import System
from denots.systems.system import check_known

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Space = dict[str, Range | Choice]


def space_of(system: System, asked: Mapping[str, Any] | None, fixed: Iterable[str], settable: Iterable[str]) -> Space:
    """Where to look for each option that is searched.

    Args:
        asked: a Range, a Choice or a list of values for each option, or None for where it says itself; all
            options that say so, where nothing is asked.
        fixed: options that somebody has set.
        settable: options that can be set at all.
    """
    declared, held = tunables(system.configs), set(fixed)
    if asked is None:
        found = {name: among for name, among in declared.items() if name in set(settable) - held}
        if not found:
            raise InvalidOption(
                f"no option of {system.name!r} that is not set says where to look for a better value; name one with its "
                f"values, such as {next(iter(system.options), 'NAME')}=LOW:HIGH."
            )
        return found
    check_known(asked, {name: True for name in system.options if name in set(settable)}, system.name)
    for name in asked:
        if name in held:
            raise InvalidOption(f"{name} is both set and searched; leave out one of them.")
    found = {name: _among(name, among, declared) for name, among in asked.items()}
    if not found:
        raise InvalidOption("no option is searched; name one, or leave the search out for all that say where to look.")
    for name, among in found.items():
        _check(system, name, among)
    return found


def read_space(system: System, texts: Iterable[str]) -> dict[str, Any]:
    """What `depth=1:30:log`, `state_size=16,32` and `depth` ask for."""
    hints = {name: kind for config in system.configs for name, kind in get_type_hints(type(config)).items()}
    declared, found = tunables(system.configs), dict[str, Any]()
    for text in texts:
        name, sign, words = (part.strip() for part in text.partition("="))
        check_known([name], system.options, system.name)
        if not sign:
            found[name] = None
        elif ":" in words:
            found[name] = _read_range(text, words, name, declared.get(name))
        else:
            found[name] = Choice(tuple(read_value(word.strip(), hints[name], name) for word in words.split(",")))
    return found


def distributions(system: System, space: Space) -> "dict[str, BaseDistribution]":
    """The space in Optuna's words."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    found: dict[str, BaseDistribution] = {}
    for name, among in space.items():
        if isinstance(among, Choice):
            found[name] = CategoricalDistribution(among.values)
        elif int in _kinds(system, name):
            found[name] = IntDistribution(int(among.low), int(among.high), log=among.log)
        else:
            found[name] = FloatDistribution(float(among.low), float(among.high), log=among.log)
    return found


def _among(name: str, asked: Any, declared: Space) -> Range | Choice:
    if isinstance(asked, Range | Choice):
        return asked
    if asked is None and name in declared:
        return declared[name]
    if isinstance(asked, list | tuple):
        return Choice(tuple(asked))
    raise InvalidOption(f"{name} is searched in a Range, or in a list of values; got {asked!r}.")


def _read_range(text: str, words: str, name: str, declared: Range | Choice | None) -> Range:
    low, high, *scale = words.split(":")
    if scale not in ([], ["log"]):
        raise InvalidOption(f"cannot read {text!r}; write {name}=LOW:HIGH, {name}=LOW:HIGH:log or {name}=A,B,C.")
    usual = isinstance(declared, Range) and declared.log
    return Range(read_value(low, float, name), read_value(high, float, name), log=bool(scale) or usual)


def _check(system: System, name: str, among: Range | Choice) -> None:
    """Refuse what the option itself would refuse in every trial: both ends of a range, and each value."""
    kinds = _kinds(system, name)
    if isinstance(among, Range) and not kinds & {int, float}:
        raise InvalidOption(f"{name} is no number; give its values: {name}=A,B,C.")
    if (
        isinstance(among, Range)
        and int in kinds
        and not (float(among.low).is_integer() and float(among.high).is_integer())
    ):
        raise InvalidOption(f"{name} is a whole number; {among.low:g} to {among.high:g} is no range of such.")
    whole = int in kinds and isinstance(among, Range)
    ends = among.values if isinstance(among, Choice) else (among.low, among.high)
    for value in ends:
        system.with_options(**{name: int(value) if whole else value})


def _kinds(system: System, name: str) -> set[Any]:
    """The types that an option may have."""
    config = next(config for config in system.configs if name in {option.name for option in fields(config)})
    kind = get_type_hints(type(config))[name]
    return set(get_args(kind)) if get_origin(kind) in (Union, UnionType) else {kind}
