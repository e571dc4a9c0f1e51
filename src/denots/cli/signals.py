"""Signals that ask the process to end: like Ctrl-C, they let it say where it can go on."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal arrived; whatever handles Ctrl-C handles it alike."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def __str__(self) -> str:
        return f"by {signal.Signals(self.number).name}."

    @property
    def exit_code(self) -> int:
        """What shells say of a process that a signal ended."""
        return 128 + self.number


@contextmanager
def stopping_signals() -> Iterator[None]:
    """Within the block SIGTERM and SIGHUP raise Stopped; a second one ends the process at once.

    A signal that is ignored stays so, as `nohup` asks for.
    """
    ours = [s for s in ENDING if signal.getsignal(s) is signal.SIG_DFL] if _in_main_thread() else []

    def reset() -> None:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)

    def stop(number: int, frame: FrameType | None) -> None:
        reset()
        raise Stopped(number)

    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        reset()


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
