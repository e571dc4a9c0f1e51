"""Figures of the benchmarks, drawn from the results alone and readable without colour."""

import os
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

FOLDER = Path(__file__).parents[1] / "docs" / "figures"
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "svg.hashsalt": "denots",  # the same results give the same file
    "svg.fonttype": "none",
}
ONE = {"color": "0.55", "linestyle": "--", "marker": "s", "markerfacecolor": "white"}
TWO = {"color": "black", "linestyle": "-", "marker": "o"}
GUIDE = {"color": "0.7", "linestyle": ":"}


def draw_scaling(scaling: dict[str, Any]) -> Path:
    """Time of forward + gradient, and time per evaluation, one column per axis."""
    axes = scaling["axes"]
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(2, len(axes), figsize=(2.7 * len(axes), 4.8), squeeze=False)
        for column, (name, axis) in enumerate(axes.items()):
            _draw_times(panels[0, column], axis, first=column == 0)
            _draw_rates(panels[1, column], name, axis, first=column == 0)
        panels[0, 0].legend(frameon=False)
        return _save(figure, "scaling.svg")


def draw_ratios(workloads: dict[str, Any]) -> Path:
    """How many times longer each contender takes for forward + gradient."""
    with plt.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(7, 3.2))
        looks = {
            "paper": ("paper's stack", "o", "black"),
            "torchode": ("torchode, splines once", "s", "0.35"),
            "diffrax": ("diffrax", "^", "0.6"),
            "torchcde": ("torchcde", "D", "0.35"),
            "gru": ("torch.nn.GRU, not an ODE", "+", "black"),
            "reference": ("reference backend", "x", "0.5"),
            "native-1": ("native, 1 thread", "|", "black"),
        }
        for name, (label, marker, shade) in looks.items():
            found = [(row["title"], row["contenders"].get(name)) for row in workloads.values()]
            ratios = [contender["gradient"]["ratio"] if contender else None for _, contender in found]
            panel.plot(ratios, range(len(found)), marker, color=shade, label=label)
        panel.set_yticks(range(len(workloads)), [row["title"] for row in workloads.values()])
        panel.invert_yaxis()
        panel.set_xscale("log")
        panel.set_xlabel("times as long as native with 2 threads, forward + gradient")
        panel.legend(frameon=False, bbox_to_anchor=(1.0, 1.0))
        return _save(figure, "solver-ratios.svg")


def draw_precision(sets: dict[str, Any]) -> Path:
    """Work against error: evaluations above, time below, one column per data set."""
    looks = {
        "dopri5": {"color": "0.6", "linestyle": "--", "marker": "s", "markerfacecolor": "white"},
        "tsit5": {"color": "0.6", "linestyle": ":", "marker": "^", "markerfacecolor": "white"},
        "bosh3": {"color": "0.35", "linestyle": "-.", "marker": "D"},
        "owrenzen4": TWO,
    }
    costs = (("evaluations", "evaluations a series"), ("ms_per_1000", "ms for 1000 series"))
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(2, len(sets), figsize=(2.7 * len(sets), 4.8), squeeze=False, sharex="col")
        for column, (title, methods) in enumerate(sets.items()):
            for panel, (cost, label) in zip(panels[:, column], costs, strict=True):
                for name, rows in methods.items():
                    panel.loglog([row["error"] for row in rows], [row[cost] for row in rows], label=name, **looks[name])
                if column == 0:
                    panel.set_ylabel(label)
            panels[0, column].set_title(title, fontsize=9)
            panels[1, column].invert_xaxis()
            panels[1, column].set_xlabel("rms error of the last state")
        panels[0, 0].legend(frameon=False)
        return _save(figure, "work-precision.svg")


def _draw_times(panel: Axes, axis: dict[str, Any], first: bool) -> None:
    sizes = [point["size"] for point in axis["points"]]
    for threads, label, look in (("1", "1 thread", ONE), ("2", "2 threads", TWO)):
        times = [point["threads"][threads]["gradient"]["best_ms"] for point in axis["points"]]
        panel.loglog(sizes, times, label=label, **look)
    proportional = [times[-1] * size / sizes[-1] for size in sizes]
    panel.loglog(sizes, proportional, label="proportional", **GUIDE)
    panel.set_ylim(bottom=min(times) / 3)
    if first:
        panel.set_ylabel("forward + gradient, ms")


def _draw_rates(panel: Axes, name: str, axis: dict[str, Any], first: bool) -> None:
    sizes = [point["size"] for point in axis["points"]]
    for threads, look in (("1", ONE), ("2", TWO)):
        rates = [
            point["threads"][threads]["gradient"]["best_ms"] * 1e6 / point["evaluations"] for point in axis["points"]
        ]
        panel.loglog(sizes, rates, **look)
    panel.set_xlabel(f"{name}: {axis['label']}")
    if first:
        panel.set_ylabel("ns per evaluation of one series")


def _save(figure: Any, name: str) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    fresh = FOLDER / f"{name}.new"
    figure.savefig(fresh, format="svg", metadata={"Date": None})
    plt.close(figure)
    os.replace(fresh, FOLDER / name)
    return FOLDER / name
