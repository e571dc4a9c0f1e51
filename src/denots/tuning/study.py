"""The journal of a search: what was tried and how it went, in one file that outlives the process."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from filelock import FileLock, Timeout

from denots.errors import InvalidFolder, MissingExtra

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial, Trial

JOURNAL, LOCK, TRIALS = "journal.jsonl", "lock", "trials"
FILES = {JOURNAL, f"{JOURNAL}.lock", LOCK, TRIALS}
NAME, IDENTITY = "denots", "identity"
STARTUP, WARMUP = 5, 3  # trials before any is pruned, and epochs of each


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a study for this process and those that it starts; a lock ends with its process, however that ends."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise InvalidFolder(f"another process searches in {folder}; wait for it, or choose another folder.") from error
    try:
        yield
    finally:
        lock.release()


def begin(folder: Path, identity: Mapping[str, Any]) -> "Study":
    """The study in a folder, which must be locked, or a new one; one with other data or options is refused."""
    _mend(folder / JOURNAL)
    study = open_study(folder)
    known = study.user_attrs.get(IDENTITY)
    told = json.loads(json.dumps(identity))
    if known is None:
        study.set_user_attr(IDENTITY, told)
    elif known != told:
        odd = ", ".join(sorted(name for name in {*known, *told} if known.get(name) != told.get(name)))
        raise InvalidFolder(
            f"{folder} holds a search that differs in {odd}; choose another folder, or discard it (denots tune --restart)."
        )
    return study


def open_study(folder: Path) -> "Study":
    """The study as its journal tells; every process that works on it opens it for itself."""
    optuna = optuna_library()
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    file = folder / JOURNAL
    try:
        storage = JournalStorage(JournalFileBackend(str(file), lock_obj=JournalFileOpenLock(str(file))))
        return optuna.create_study(
            storage=storage,
            study_name=NAME,
            load_if_exists=True,
            sampler=optuna.samplers.RandomSampler(seed=0),
            pruner=_pruner(),
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise InvalidFolder(
            f"{file} is damaged or foreign ({type(error).__name__}: {error}); move it away, or discard the search "
            "(denots tune --restart)."
        ) from error


def rehearsal() -> "Study":
    """A study without a journal that ends trials as early."""
    study: Study = optuna_library().create_study(pruner=_pruner())
    return study


def _pruner() -> Any:
    return optuna_library().pruners.MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=WARMUP)


def next_trial(study: "Study", distributions: Mapping[str, Any], first: Mapping[str, Any], seed: int) -> int:
    """Begin a trial and tell its number; the very first one has the options `first`.

    What is suggested depends on seed, number and the trials before, and is written in one line: a search that is
    continued, one trial at a time, asks the same questions as one that was never interrupted.
    """
    optuna = optuna_library()
    known = study.get_trials(deepcopy=False)
    if len(known) == len(begun(study)):
        own = int(np.random.SeedSequence([seed, len(known)]).generate_state(1)[0])
        rehearsal = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=own))
        if known:
            rehearsal.add_trials(known)
        else:
            rehearsal.enqueue_trial(dict(first))
        study.enqueue_trial(rehearsal.ask(dict(distributions)).params)
    return study.ask(dict(distributions)).number


def complete(study: "Study", trial: "FrozenTrial", distributions: Mapping[str, Any]) -> int:
    """The number of a trial that was interrupted, once all of its options are written."""
    resuming = resumed(study, trial)
    for name, among in distributions.items():
        resuming._suggest(name, among)
    return trial.number


def begun(study: "Study") -> "list[FrozenTrial]":
    """All trials but those that wait for their turn."""
    waiting = optuna_library().trial.TrialState.WAITING
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state != waiting]


def resumed(study: "Study", trial: "FrozenTrial") -> "Trial":
    """A trial that has begun, in this process or in one that is no more."""
    optuna = optuna_library()
    return optuna.trial.Trial(study, trial._trial_id)


def _mend(journal: Path) -> None:
    """Take away what a process that was killed while it wrote has left: half a line, and its lock."""
    journal.with_name(f"{journal.name}.lock").unlink(missing_ok=True)
    if journal.exists():
        whole = journal.read_bytes().rpartition(b"\n")
        os.truncate(journal, len(whole[0]) + len(whole[1]))


def optuna_library() -> Any:
    """Optuna, which is an extra; it says nothing by itself."""
    try:
        import optuna
    except ImportError as error:
        raise MissingExtra("the search is made by Optuna; pip install 'denots[tune]'.") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
