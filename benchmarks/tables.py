"""Results on the screen."""

from typing import Any

from rich.console import Console
from rich.table import Table

console = Console(width=150)


def show_peak(found: dict[str, Any]) -> None:
    peak = ", ".join(f"{threads} thread(s) {rate:.1f}" for threads, rate in found["fma_peak_gflops"].items())
    console.print(
        f"{found['machine']['cpu']}, load {found['load_average_before']:.2f}; multiply-add peak in GFLOP/s: {peak}"
    )


def show_agreement(report: dict[str, dict[str, float]]) -> None:
    table = Table(title="Agreement with native-2 on smooth series", title_justify="left")
    for heading in ("contender", "states, in tolerances", "gradient, relative", "evaluations"):
        table.add_column(heading, justify="left" if heading == "contender" else "right")
    for name, row in report.items():
        table.add_row(
            name, f"{row['states_in_tolerances']:.3f}", f"{row['gradient']:.1e}", f"{row['mean_evaluations']:.1f}"
        )
    console.print(table)


def show_workload(workload: dict[str, Any]) -> None:
    title = (
        f"{workload['title']}: {workload['series']} series, {workload['median_points']:.0f} points, "
        f"{workload['channels']} channels, {workload['states']} states, tolerance {workload['tolerance']:g}; "
        f"others used {workload['others_share_of_cpu']:.0%} of the processor"
    )
    table = Table(title=title, title_justify="left")
    headings = (
        "contender",
        "threads",
        "forward",
        "x",
        "+ gradient",
        "x",
        "CPU time",
        "MB",
        "evals",
        "max",
        "ns/eval",
        "FMA",
        "error",
        "gradient",
        "others",
        "compile",
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "contender" else "right")
    for name, row in workload["contenders"].items():
        table.add_row(name, *cells(row))
    console.print(table)
    for label, reason in workload["failed"].items():
        console.print(f"not timed: {label} {reason}")


def cells(row: dict[str, Any]) -> list[str]:
    """One contender's measures as text; empty where there is nothing to say."""
    counts, error = row.get("evaluations"), row.get("error")
    return [
        str(row["threads"]),
        milliseconds(row["forward"]["best_ms"]),
        f"{row['forward']['ratio']:.3g}",
        milliseconds(row["gradient"]["best_ms"]),
        f"{row['gradient']['ratio']:.3g}",
        milliseconds(row["gradient"]["best_processor_ms"]),
        "" if row.get("peak_megabytes") is None else f"{row['peak_megabytes']:.0f}",
        "" if counts is None else f"{counts['mean']:.0f}",
        "" if counts is None else f"{counts['max']}",
        f"{row['ns_per_evaluation']['forward']:.0f}" if "ns_per_evaluation" in row else "",
        f"{row['fma_share']:.0%}" if row.get("backend") == "native" else "",
        "" if error is None else f"{error['typical_state']:.1e}",
        "" if error is None else f"{error['gradient']:.1e}",
        f"{max(row[what]['others_share_of_cpu'] for what in ('forward', 'gradient')):.0%}",
        f"{row['compile_seconds']:.1f} s" if row["compile_seconds"] else "",
    ]


def milliseconds(value: float) -> str:
    return f"{value:.3g} ms" if value < 1000 else f"{value / 1000:.3g} s"
