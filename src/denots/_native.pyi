from typing import Any

from denots.shapes import FloatArray, IntArray

def fit_splines(
    kind: str,
    offsets: IntArray,
    times: FloatArray,
    observed: FloatArray,
    value: FloatArray,
    slope_before: FloatArray,
    slope_after: FloatArray,
    threads: int,
) -> None: ...
def drive_rows(*, threads: int, **arrays: Any) -> None: ...
def summarise(*, late: float, first_column: int, threads: int, **arrays: Any) -> None: ...
def normal_scores(*, threads: int, **arrays: Any) -> None: ...
def fill_driven_path(*, threads: int, **reading: Any) -> None: ...
def pool_oscillators(*, threads: int, **arrays: Any) -> None: ...
def sample_evenly(*, threads: int, **arrays: Any) -> None: ...
def pool_convolutions(*, threads: int, **arrays: Any) -> None: ...
def linear_rows(*, x: FloatArray, weight: FloatArray, bias: FloatArray, found: FloatArray, threads: int) -> None: ...
def softmax_rows(*, logits: FloatArray, shares: FloatArray) -> None: ...
def sum_trees(*, threads: int, **arrays: Any) -> None: ...
def attention(*, heads: int, dropped: int, seed: int, threads: int, **arrays: Any) -> None: ...
def pull_attention(*, heads: int, dropped: int, seed: int, threads: int, **arrays: Any) -> None: ...
def feed_forward(*, dropped: int, seed: int, threads: int, **arrays: Any) -> None: ...
def pull_feed_forward(*, dropped: int, seed: int, threads: int, **arrays: Any) -> None: ...
def state_space(*, epsilon: float, threads: int, **arrays: Any) -> None: ...
def pull_state_space(*, epsilon: float, threads: int, **arrays: Any) -> None: ...
def gru(*, threads: int, **arrays: Any) -> None: ...
def pull_gru(*, threads: int, **arrays: Any) -> None: ...
def fields() -> list[str]: ...
def target() -> tuple[str, str]: ...
def supported() -> list[str]: ...
def disagreement(target: str, allowed: float) -> str: ...
def set_fault(target: str, fault: str) -> None: ...

class Method:
    def __init__(
        self, *, order: int, safety: float, nodes: FloatArray, weights: FloatArray, error: FloatArray, dense: FloatArray
    ) -> None: ...

class Tape:
    @property
    def bytes(self) -> int: ...

class _Problem:
    def __init__(
        self,
        *,
        field: str,
        method: Method,
        rtol: float,
        atol: float,
        max_steps: int,
        begins: IntArray,
        ends: IntArray,
        times: FloatArray,
        values: FloatArray,
        slopes: FloatArray,
        start: FloatArray,
        stop: FloatArray,
        queries: FloatArray,
        positions: IntArray,
        h0: FloatArray,
        weight_hh: FloatArray,
        bias_hh: FloatArray,
        weight_in: FloatArray,
        bias: FloatArray,
        weight_out: FloatArray,
        bias_out: FloatArray,
        land_on_knots: bool = False,
    ) -> None: ...
    def solve(
        self,
        *,
        states: FloatArray,
        status: IntArray,
        evaluations: IntArray,
        accepted: IntArray,
        rejected: IntArray,
        reached: FloatArray,
        record: bool,
        tape_budget: int,
        threads: int,
    ) -> Tape | None: ...
    def pull_back(
        self,
        *,
        tape: Tape,
        states: FloatArray,
        status: IntArray,
        accepted: IntArray,
        weight_hh: FloatArray,
        bias_hh: FloatArray,
        weight_in: FloatArray,
        bias: FloatArray,
        weight_out: FloatArray,
        bias_out: FloatArray,
        h0: FloatArray,
        values: FloatArray | None = None,
        slopes: FloatArray | None = None,
        threads: int,
    ) -> None: ...
    def steps(self, *, tape: Tape, offsets: IntArray, times: FloatArray, states: FloatArray) -> None: ...

class Problem32(_Problem): ...
class Problem64(_Problem): ...
