"""One page with every table and figure, where its numbers come from, and what they say of the paper."""

import datetime
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from itertools import compress

from denots.experiments import EXPERIMENTS
from denots.experiments.check import Check
from denots.experiments.claims import CLAIMS, Evidence, Judged, judge_first
from denots.experiments.difference import CONFIDENCE
from denots.experiments.draw import panel_svg, swatch
from denots.experiments.exhibit import (
    Cell,
    Exhibit,
    Picture,
    Table,
    agreement,
    format_number,
    format_ours,
    format_published,
)
from denots.experiments.experiment import Experiment, Study
from denots.experiments.gallery import exhibits_of, findings_of, records_of
from denots.experiments.observations import OBSERVATIONS
from denots.experiments.paper_checks import CHECKS
from denots.experiments.results import Results
from denots.experiments.runs import PROFILES, profile_of
from denots.experiments.story import tell
from denots.runs.record import RunRecord

RULES = {
    "paper": "As published",
    "standardised": "As published, but with standardised targets",
    "fair": "On equal terms (protocol fair)",
    "best": "On equal terms, with the best recipe for all (protocol best)",
}


@dataclass(frozen=True)
class Section:
    """An experiment under some rules."""

    experiment: Experiment
    rules: str
    exhibits: list[Exhibit]
    records: list[RunRecord]


def build_page(results: Results, date: datetime.date) -> str:
    """The page as text; the same records and date give the same bytes."""
    sections = [section for experiment in EXPERIMENTS.values() for section in _sections(experiment, results)]
    published, standardised, fair, best = (_evidence(sections, rules) for rules in RULES)
    judged = [judge_first(claim, {"": published, "targets standardised": standardised}) for claim in CLAIMS]
    checks = [*(check() for check in CHECKS), *OBSERVATIONS]
    body = [
        _head(sections, judged, date),
        _navigation(sections),
        "<main>",
        _story(tell(judged, published, fair, best)),
        _claims(judged),
        _wrong(checks),
        *(_section(section, results) for section in sections),
        _costs(sections),
        "</main>",
        f"<footer>Made by <code>denots report</code> on {date.isoformat()} from the records alone.</footer>",
    ]
    page = files("denots.experiments.page")
    style, script = (page.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n<title>DeNOTS, reproduced</title>\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + f'\n<div id="tip" hidden></div>\n<script>\n{script}</script>\n</body>\n</html>\n'
    )


def _sections(experiment: Experiment, results: Results) -> list[Section]:
    """What was published always has its place; other rules only once they have records."""
    found = []
    for rules in RULES:
        records = records_of(experiment, results, rules)
        if rules == "paper" or (records and not experiment.compares_rules):
            shown = exhibits_of(experiment, results, rules)
            found.append(Section(experiment, rules, shown if rules == "paper" else _known(shown), records))
    return found


def _known(exhibits: Sequence[Exhibit]) -> list[Exhibit]:
    """The exhibits without columns and rows of tables that nobody ran under these rules."""
    found: list[Exhibit] = []
    for exhibit in exhibits:
        if isinstance(exhibit, Table):
            tells = [any(_says(cells[k]) for _, cells in exhibit.rows) for k in range(len(exhibit.columns))]
            rows = ((name, tuple(compress(cells, tells))) for name, cells in exhibit.rows)
            kept = tuple(row for row in rows if any(map(_says, row[1])))
            found.append(replace(exhibit, columns=tuple(compress(exhibit.columns, tells)), rows=kept))
        else:
            found.append(exhibit)
    return found


def _says(cell: Cell | str) -> bool:
    return isinstance(cell, str) or bool(cell.values)


def _tells(section: Section) -> bool:
    """Toy runs confirm nothing."""
    return all(profile_of(record.spec) != "smoke" for record in section.records)


def _evidence(sections: Sequence[Section], rules: str) -> Evidence:
    return Evidence({s.experiment.name: s.exhibits for s in sections if s.rules == rules and _tells(s)})


def _unique(sections: Sequence[Section]) -> list[RunRecord]:
    """Each run once, however many experiments show it."""
    return list({record.spec.fingerprint: record for section in sections for record in section.records}.values())


def _head(sections: Sequence[Section], judged: Sequence[Judged], date: datetime.date) -> str:
    count = Counter(each.judgement for each in judged)
    runs = _unique(sections)
    agreed, compared = (
        sum(pair)
        for pair in zip(*(agreement(s.exhibits) for s in sections if s.rules == "paper" and _tells(s)), strict=True)
    )
    hours = sum(record.seconds for record in runs) / 3600
    numbers = (
        (f"{count['confirmed']} of {len(judged)}", "claims confirmed"),
        (str(count["not confirmed"]), "not confirmed"),
        (str(count["undecided"]), "undecided: too few runs"),
        (str(count["hint for"] + count["hint against"] + count["open"]), "open, or hinted at by reduced runs"),
        (f"{agreed} of {compared}", "numbers within the joint spread"),
        (str(len(runs)), "training runs shown"),
        (f"{hours:.1f} h", "of training"),
    )
    shown = "".join(f"<div><b>{escape(number)}</b>{escape(words)}</div>" for number, words in numbers)
    return (
        "<header><h1>DeNOTS, reproduced</h1>"
        "<p>Every table and figure of <i>DeNOTS: Stable Deep Neural ODEs for Time Series</i>, made again with an independent "
        "implementation on a small machine without a graphics card, next to the published numbers. ✓ lies within the joint spread of both, ≠ outside.</p>"
        f'<p class="soft">{date.isoformat()}</p><div class="numbers">{shown}</div></header>'
    )


def _navigation(sections: Sequence[Section]) -> str:
    links = "".join(
        f'<a href="#{s.experiment.name}">{escape(s.experiment.name)}</a>' for s in sections if s.rules == "paper"
    )
    return f'<nav aria-label="Contents"><div><a href="#story">story</a><a href="#claims">claims</a><a href="#wrong">checks</a>{links}<a href="#cost">cost</a></div></nav>'


def _story(told: dict[str, list[str]]) -> str:
    parts = "".join(
        f"<h3>{escape(heading)}</h3><ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in sentences)}</ul>"
        for heading, sentences in told.items()
    )
    return f'<h2 id="story">In short</h2>{parts or "<p>No records yet.</p>"}'


def _claims(judged: Sequence[Judged]) -> str:
    items = "".join(
        f'<li><span class="verdict {each.judgement.split()[0]}">{each.judgement}</span><a href="#{each.claim.experiment}">{escape(each.claim.text)}</a>'
        f'<span class="words">{escape(each.words)}{f" ({each.but})" if each.but else ""}</span></li>'
        for each in judged
    )
    return (
        '<h2 id="claims">What was confirmed, and what was not</h2>'
        f"<p>A claim says that one mean exceeds another. It is confirmed when the {CONFIDENCE:.0%} interval of the difference (Welch, over "
        "the seeds of our runs under the published protocol) lies above zero, not confirmed when it lies below, and else undecided. "
        "Where there are no such runs with raw targets yet, those with standardised ones are judged, and it says so; "
        "runs of a reduced profile give a hint by their means, not a proof.</p>"
        f'<ul class="claims">{items}</ul>'
    )


def _wrong(checks: Sequence[Check]) -> str:
    items = "".join(
        f'<li><span class="verdict {check.verdict}">{check.verdict}</span><span><b>{escape(check.topic)}.</b> {escape(check.paper)}.</span>'
        f'<span class="words">{escape(check.found)}{_rule(check)}</span></li>'
        for check in checks
    )
    return (
        '<h2 id="wrong">What the paper gets wrong</h2>'
        "<p>Statements that need no training to check, each computed anew for this page, verdict included; and, as noted, what reading alone tells.</p>"
        f'<ul class="claims">{items}</ul>'
    )


def _rule(check: Check) -> str:
    return f" Right if {escape(check.rule)}." if check.rule else ""


def _section(section: Section, results: Results) -> str:
    experiment = section.experiment
    heading = escape(experiment.title)
    anchor = f' id="{experiment.name}"' if section.rules == "paper" else ""
    if section.rules != "paper":
        heading += f" &ndash; {escape(RULES[section.rules].lower())}"
    parts = [f"<h2{anchor}>{heading}</h2>", f'<p class="soft">Paper: {escape(experiment.shows)}.</p>']
    if not _tells(section):
        parts.append('<p class="note"><b>Toy runs (profile smoke): these numbers mean nothing.</b></p>')
    prefix = "" if section.rules == "paper" else f"{section.rules}-"
    for exhibit in section.exhibits:
        if isinstance(exhibit, Table):
            parts.append(
                _table(exhibit) if _filled(exhibit) else f'<p class="note">{escape(exhibit.title)}: no records yet.</p>'
            )
        elif not exhibit.empty:
            parts.append(_figure(exhibit, prefix))
    return "\n".join([*parts, _provenance(section, results)])


def _filled(table: Table) -> bool:
    return any(_says(cell) for _, cells in table.rows for cell in cells)


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("", *table.columns))
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(_cell(cell, table.digits) for cell in cells)}</tr>'
        for name, cells in table.rows
    )
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f'<h3>{escape(table.title)}</h3><div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}'


def _cell(cell: Cell | str, digits: int) -> str:
    if isinstance(cell, str):
        return f"<td>{escape(cell)}</td>"
    kind = {True: ' class="agrees"', False: ' class="differs"', None: ""}[cell.agrees]
    printed = format_published(cell, digits)
    theirs = f'<span class="paper">paper {printed}</span>' if printed else ""
    title = (
        f' title="{len(cell.values)} values: {", ".join(format_number(v, digits) for v in cell.values[:10])}"'
        if cell.values
        else ""
    )
    order = f' data-value="{cell.mean:.6g}"' if cell.values else ""
    return f'<td{kind}{title}{order}><span class="ours">{format_ours(cell, digits)}</span>{theirs}</td>'


def _figure(picture: Picture, prefix: str) -> str:
    named = Picture(picture.title, f"{prefix}{picture.name}", picture.panels, picture.note)
    systems: dict[str, str] = {}
    for panel in named.panels:
        for position, curve in enumerate(panel.curves):
            if len(curve.x) or curve.runs:
                systems.setdefault(curve.system, swatch(curve.system, position))
    buttons = "".join(
        f'<button type="button" data-system="{escape(system)}" aria-pressed="true">{mark}{escape(system)}</button>'
        for system, mark in systems.items()
    )
    panels = "".join(panel_svg(named, number) for number in range(len(named.panels)))
    single = " single" if len(named.panels) == 1 else ""
    note = f'<p class="note">{escape(picture.note)}</p>' if picture.note else ""
    return (
        f'<figure style="margin:0"><h3>{escape(picture.title)}</h3><div class="legend">{buttons}</div>'
        f'<div class="panels{single}">{panels}</div>{note}</figure>'
    )


def _provenance(section: Section, results: Results) -> str:
    experiment, records = section.experiment, section.records
    if isinstance(experiment, Study):
        found = findings_of(experiment, results)
        lines = (
            ["no findings yet"]
            if found is None
            else [f"options {found.options}", f"{found.seconds:.0f} s", _versions([found.versions])]
        )
    elif not records:
        lines = (
            ["computed when the page was made; no runs"]
            if experiment.name == "parameters"
            else [f"no records yet: denots reproduce {experiment.name}"]
        )
    else:
        profiles = Counter(profile_of(record.spec) for record in records)
        lines = [
            f"{len(records)} runs: " + ", ".join(f"{profiles[p]} {p}" for p in PROFILES if profiles[p]),
            f"seeds {', '.join(map(str, sorted({record.spec.seed for record in records})))}",
            f"{sum(record.seconds for record in records) / 60:.1f} minutes of training, {sum(len(record.curve) for record in records)} epochs",
            _versions([record.versions for record in records]),
            f"code {', '.join(sorted({record.origin.code for record in records}))}",
        ]
        failed = sum(record.failed for record in records)
        if failed:
            lines.append(f"{failed} test series could not be solved and count as wrong")
        if profiles["quick"] and experiment.reduced:
            lines.append(f"quick reduced: {experiment.reduced}")
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<details><summary>Where these numbers come from</summary><ul>{items}</ul></details>"


def _versions(all_versions: Sequence[dict[str, str]]) -> str:
    """Each library with all versions that took part."""
    names = dict.fromkeys(name for versions in all_versions for name in versions)
    return "; ".join(f"{name} {', '.join(sorted({v[name] for v in all_versions if name in v}))}" for name in names)


def _costs(sections: Sequence[Section]) -> str:
    def cells(records: Sequence[RunRecord]) -> tuple[str, ...]:
        minutes = sum(r.seconds for r in records) / 60
        return str(len(records)), f"{minutes:.1f}", f"{max((r.seconds for r in records), default=0) / 60:.1f}"

    rows = tuple((f"{s.experiment.name} ({s.rules})", cells(s.records)) for s in sections if s.records)
    table = Table(
        "",
        ("runs", "minutes of training", "longest run, minutes"),
        (*rows, ("all, each run once", cells(_unique(sections)))),
    )
    note = '<p class="note">A run that several experiments need was made once; it is counted in each of them here.</p>'
    return f'<h2 id="cost">What it cost</h2>{_table(table).replace("<h3></h3>", "")}{note}'
