"""Draw the pictures of the concepts, each from a small real computation: `python docs/draw.py [FOLDER]`."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from denots import SeriesSet, fields, paths, solve
from denots.experiments.draw import STYLE

BLUE, RED, GREY = "#0b3c8c", "#d1495b", "#7a7a7a"
STATES = 8


def observations(missing: float = 0.0) -> SeriesSet:
    """One series of two channels, seen at 14 random times."""
    rng = np.random.default_rng(4)
    times = np.concatenate([[0.0], np.sort(rng.uniform(0, 10, 12)), [10.0]])
    values = np.stack([np.sin(times), 0.5 * np.cos(0.6 * times) - 0.3], axis=1)
    values[rng.random(values.shape) < missing] = np.nan
    return SeriesSet.from_arrays([times], [values])


def field(kind: str, gain: float = 1.0) -> fields.VectorField:
    """Weights as torch draws them, times a gain."""
    torch.manual_seed(0)
    made = fields.FIELDS[kind](2, STATES).double()
    with torch.no_grad():
        for weight in made.parameters():
            weight *= gain
    return made


def states(path: paths.Path, kind: str, *, gain: float = 1.0, tolerance: float = 1e-6) -> tuple[np.ndarray, np.ndarray]:
    """States along one path, and the share of its time at which they were asked for."""
    share = torch.linspace(0, 1, 400, dtype=torch.float64)
    at = path.t0[:, None] + share * (path.t1 - path.t0)[:, None]
    h0 = torch.zeros(1, STATES, dtype=torch.float64)
    solution = solve(field(kind, gain), path, h0, rtol=tolerance, atol=tolerance, at=at)
    return share.numpy(), solution.states[0].detach().numpy()


def signal(axis: Axes, series: SeriesSet) -> paths.Path:
    path = paths.NaturalCubic.fit(series, torch.float64)
    t = torch.linspace(0, 10, 400, dtype=torch.float64)
    value = path.value(t, torch.zeros(400, dtype=torch.int64))
    for channel, colour in enumerate((BLUE, RED)):
        axis.plot(t, value[:, channel], color=colour, linewidth=1.5)
        axis.plot(
            series.times, series.values[:, channel], "o", color=colour, markersize=5, label=f"channel {channel + 1}"
        )
    return path


def draw_path(figure: Figure) -> None:
    """Dots are observations, lines the path; below, the state that follows it."""
    above, below = figure.subplots(2, 1, sharex=True)
    path = signal(above, observations())
    above.set(ylabel="signal")
    share, state = states(path.scale_time(3.0), "anti", gain=2.0)
    below.plot(10 * share, state, color=GREY, linewidth=1.2)
    below.set(xlabel="time", ylabel="state")


def draw_missingness(figure: Figure) -> None:
    axis = figure.subplots()
    series = observations(missing=0.35)
    signal(axis, series)
    for time, row in zip(series.times, series.values, strict=True):
        if np.isnan(row).any():
            axis.axvline(time, color=GREY, linewidth=0.8, linestyle=":")
    axis.set(xlabel="time", ylabel="signal")
    axis.legend()


def draw_depth(figure: Figure) -> None:
    axis = figure.subplots()
    path = paths.NaturalCubic.fit(observations(), torch.float64)
    for depth, style in ((1.0, ":"), (5.0, "--"), (20.0, "-")):
        share, state = states(path.scale_time(depth / 10), "anti", gain=2.0)
        axis.plot(share, state[:, 0], style, color=BLUE, label=f"depth {depth:g}")
    axis.set(xlabel="share of the series", ylabel="first state")
    axis.legend()


def draw_feedback(figure: Figure) -> None:
    axis = figure.subplots()
    path = paths.NaturalCubic.fit(observations(), torch.float64).scale_time(4.0)
    looks = {"none": (GREY, ":"), "sync": (RED, "--"), "anti": (BLUE, "-")}
    for kind, (colour, style) in looks.items():
        share, state = states(path, kind, gain=2.0)
        axis.semilogy(40 * share[1:], np.linalg.norm(state[1:], axis=1), style, color=colour, label=kind)
    axis.set(xlabel="stretched time", ylabel="length of the state")
    axis.legend(title="feedback")


def draw_tolerance(figure: Figure) -> None:
    axis = figure.subplots()
    path = paths.NaturalCubic.fit(observations(), torch.float64)
    h0 = torch.zeros(1, STATES, dtype=torch.float64)
    exact = solve(field("anti", 2.0), path, h0, rtol=1e-11, atol=1e-11).states
    found = []
    for tolerance in np.logspace(-1, -7, 13):
        solution = solve(field("anti", 2.0), path, h0, rtol=tolerance, atol=tolerance, method="owrenzen4")
        found.append((int(solution.evaluations[0]), float((solution.states - exact).detach().norm())))
    axis.loglog(*zip(*found, strict=True), "o-", color=BLUE)
    axis.set(xlabel="evaluations of the field", ylabel="error of the last state")


PICTURES: dict[str, Callable[[Figure], None]] = {
    "path": draw_path,
    "depth": draw_depth,
    "feedback": draw_feedback,
    "tolerance": draw_tolerance,
    "missingness": draw_missingness,
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        with rc_context({**STYLE, "svg.fonttype": "path"}):
            figure = Figure(figsize=(6.4, 3.4), layout="constrained")
            draw(figure)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
