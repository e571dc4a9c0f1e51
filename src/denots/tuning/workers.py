"""Make trials one after the other in this process, or several at a time in others, here or on a cluster."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context

from denots.cluster.workers import Here, Workers
from denots.errors import WorkerLost
from denots.processors import limited_to, start_worker
from denots.tuning.study import open_study
from denots.tuning.trial import Begun, Elsewhere, Work, run_trial, write_down

_work: Work | None = None  # of a process of the pool


def make_trials(
    work: Work, upcoming: Callable[[], int | None], most: int, jobs: int | None, place: Workers
) -> Iterator[int]:
    """Make the trials that `upcoming` numbers until it says None, and tell the number of each that has ended.

    Args:
        most: trials there can be; no more processes are started.
        jobs: processors to keep busy; each trial has its share of them. None is one trial at a time on all of them.
        place: whose work trials are; elsewhere each has as many processors as the place gives to a piece of work.
    """
    processes = min(jobs or 1, most)
    threads = None if jobs is None else jobs // processes

    def due() -> int | None:
        return None if work.deadline is not None and time.time() > work.deadline else upcoming()

    if not isinstance(place, Here):
        yield from _elsewhere(work, due, place)
    elif processes == 1:
        with limited_to(threads):
            while (number := due()) is not None:
                run_trial(work, number)
                yield number
    else:
        yield from _side_by_side(work, due, processes, threads or 1)


def _elsewhere(work: Work, due: Callable[[], int | None], place: Workers) -> Iterator[int]:
    """As pieces of work; the journal stays here, and what others tell is written when a trial has ended."""
    study = open_study(work.folder)

    def pieces() -> Iterator[Begun]:
        while (number := due()) is not None:
            trials = study.get_trials(deepcopy=False)
            yield Begun(trials[number], [trial for trial in trials if trial.state.is_finished()])

    for begun, found in place.each(Elsewhere(replace(work, verbose=False)), pieces(), queued=False):
        write_down(study, begun.trial.number, found)
        yield begun.trial.number


def _side_by_side(work: Work, due: Callable[[], int | None], processes: int, threads: int) -> Iterator[int]:
    context = get_context("spawn")
    stop, running = context.Event(), dict[Future[None], int]()
    with ProcessPoolExecutor(
        processes, context, _start, (replace(work, verbose=False), threads, os.getpid(), stop)
    ) as pool:
        try:
            while True:
                while len(running) < processes and (number := due()) is not None:
                    running[pool.submit(_run, number)] = number
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    number = running.pop(future)
                    future.result()
                    yield number
        except BrokenProcessPool as error:
            raise WorkerLost(
                "a process was killed, most likely for want of memory; the same command goes on from their checkpoints, and fewer jobs need less memory."
            ) from error
        except BaseException:
            stop.set()  # or the end of the pool would wait for whole trials
            raise


def _start(work: Work, threads: int, parent: int, stop: object) -> None:
    global _work
    _work = work
    start_worker(threads, parent, stop)


def _run(number: int) -> None:
    assert _work is not None
    run_trial(_work, number)
