"""Cells, tables and figures: the numbers they show and the text they become."""

import math
import subprocess

import numpy as np
import pytest

from denots.experiments.draw import figure_of, panel_svg, write_picture
from denots.experiments.exhibit import Cell, Curve, Panel, Picture, Table, agreement, format_cell, to_latex, to_markdown

PICTURE = Picture(
    "Two systems",
    "two",
    (
        Panel("left", "x", "y", (Curve("denots", [1, 10, 100], [0.1, 0.2, 0.3]), Curve("sync", [1, 10], [0.3, 0.1])), log_x=True),
        Panel("right", "x", "y", (Curve("denots", runs=((1.0, 2.0, "seed 0 & more"), (2.0, 3.0, "seed 1"))),)),
    ),
)  # fmt: skip


def test_spread_is_the_sample_standard_deviation() -> None:
    values = (0.4, 0.7, 0.75)
    assert Cell(values).spread == pytest.approx(np.std(values, ddof=1))
    assert Cell(values).mean == pytest.approx(np.mean(values))
    assert Cell((0.4,)).spread == 0


@pytest.mark.parametrize(("ours", "agrees"), [((0.80, 0.84), True), ((0.90, 0.94), False), ((), None)])
def test_a_cell_agrees_within_the_joint_spread(ours: tuple[float, ...], agrees: bool | None) -> None:
    assert Cell(ours, (0.79, 0.02)).agrees is agrees
    assert Cell(ours).agrees is None


def test_a_difference_is_marked_and_a_rounded_zero_has_no_sign() -> None:
    assert format_cell(Cell((0.5,), (0.79, 0.02)), 2) == "0.50 ≠ (paper 0.79 ± 0.02)"
    assert format_cell(Cell((0.5,), (0.79, 0.02), reduced=True), 2) == "0.50 (quick) (paper 0.79 ± 0.02)"
    assert format_cell(Cell((-0.0001, 0.0)), 3) == "0.000 ± 0.000"
    assert format_cell(Cell((math.nan,)), 3) == "-"
    assert format_cell(Cell((158.938,)), 3) == "158.9"
    assert format_cell(Cell((16.0,)), 3) == "16"
    assert format_cell(Cell((1118.0, 1120.5)), 3) == "1119 ± 2"
    assert format_cell(Cell((-4.7e14,)), 3) == "-4.7e+14"
    assert format_cell(Cell((3809088.0,), (3809088, 0.0)), 0) == "3809088 (paper 3809088)"


def test_tables_become_markdown_and_latex() -> None:
    table = Table("Share & R2", ("a_b",), (("x", (Cell((0.5, 0.7), (0.6, 0.1)),)), ("y", ("50 %",))), note="n")
    assert "| x | 0.600 ± 0.141 (paper 0.6 ± 0.1) |" in to_markdown(table)
    latex = to_latex(table)
    assert r"Share \& R2" in latex
    assert r"a\_b" in latex
    assert r"x & 0.600 $\pm$ 0.141 (paper 0.6 $\pm$ 0.1) \\" in latex
    assert r"50 \%" in latex
    assert agreement([table, PICTURE]) == (1, 1)


def test_lines_differ_in_dashes_and_markers_not_only_in_colour() -> None:
    lines = figure_of(PICTURE).axes[0].get_lines()
    looks = {(line.get_linestyle(), line.get_marker()) for line in lines}
    assert len(looks) == len(lines) == 2


def test_files_of_a_figure_are_the_same_bytes_every_time(tmp_path) -> None:
    first = [file.read_bytes() for file in write_picture(PICTURE, tmp_path / "a")]
    second = [file.read_bytes() for file in write_picture(PICTURE, tmp_path / "b")]
    assert first == second
    assert first[1].startswith(b"%PDF")
    assert b"<dc:date>" not in first[0]


def test_runs_in_a_page_say_what_they_are_and_belong_to_a_system() -> None:
    svg = panel_svg(PICTURE, 1)
    assert svg.count('data-system="denots"') == 2
    assert "<title>seed 0 &amp; more</title>" in svg
    checked = subprocess.run(["python3", "-c", "import sys, xml.dom.minidom as m; m.parseString(sys.stdin.read().replace('xlink:', ''))"], input=svg, text=True, capture_output=True)  # fmt: skip
    assert checked.returncode == 0, checked.stderr
