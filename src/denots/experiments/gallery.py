"""What the records of a folder show: exhibits of an experiment, as files, and how far it is."""

from dataclasses import dataclass, replace
from pathlib import Path

from denots.experiments.draw import write_picture
from denots.experiments.exhibit import Exhibit, Picture, Table, agreement, to_latex, to_markdown
from denots.experiments.experiment import Experiment, Request, Study
from denots.experiments.results import Findings, Results
from denots.experiments.runs import PROFILES, most_telling, rules_of
from denots.folders import write_file_whole
from denots.runs.record import RunRecord


@dataclass(frozen=True)
class Standing:
    """Recorded and planned runs of each profile, cells that agree, and what cannot run here."""

    counts: tuple[str, ...]
    agreement: str
    left_out: tuple[str, ...]


def records_of(experiment: Experiment, results: Results, rules: str) -> list[RunRecord]:
    """The most telling records under some rules (see `rules_of`), in an order that does not depend on who ended first."""
    found = results.records(experiment.name)
    if not experiment.compares_rules:
        found = [record for record in found if rules_of(record.spec) == rules]
    return sorted(most_telling(found), key=lambda record: (record.spec.seed, record.spec.fingerprint))


def findings_of(study: Study, results: Results) -> Findings | None:
    """The findings of the largest profile."""
    made = results.findings(study.name)
    wanted = [study.options(Request(profile)) for profile in PROFILES]
    known = [found for found in made if found.options in wanted]
    return max(known, key=lambda found: wanted.index(found.options), default=None)


def exhibits_of(experiment: Experiment, results: Results, rules: str) -> list[Exhibit]:
    if isinstance(experiment, Study):
        return experiment.shown(findings_of(experiment, results))
    return experiment.exhibits(records_of(experiment, results, rules))


def standing_of(experiment: Experiment, results: Results, request: Request) -> Standing:
    recorded = {record.spec.fingerprint for record in results.records(experiment.name)}
    counts, left_out = [], dict[str, None]()
    for profile in PROFILES:
        asked = replace(request, profile=profile)
        plan = experiment.plan(asked)
        left_out |= dict.fromkeys(plan.left_out)
        names = {spec.fingerprint for spec in plan.runs}
        done, planned = len(names & recorded), len(names)
        if isinstance(experiment, Study):
            options = experiment.options(asked)
            done, planned = sum(found.options == options for found in results.findings(experiment.name)), 1
        counts.append(f"{done} / {planned}" if planned else "no runs")
    agreed, judged = agreement(exhibits_of(experiment, results, request.protocol))
    return Standing(tuple(counts), f"{agreed} of {judged}" if judged else "-", tuple(left_out))


def write_exhibits(experiment: Experiment, exhibits: list[Exhibit], folder: Path) -> list[Path]:
    """Tables of an experiment in one Markdown and one LaTeX file, each figure as SVG and PDF."""
    tables = [exhibit for exhibit in exhibits if isinstance(exhibit, Table) and exhibit.rows]
    written = []
    for suffix, written_as in ((".md", to_markdown), (".tex", to_latex)) if tables else ():
        written.append(folder / "tables" / f"{experiment.name}{suffix}")
        write_file_whole(written[-1], "\n".join(map(written_as, tables)).encode())
    for exhibit in exhibits:
        if isinstance(exhibit, Picture) and not exhibit.empty:
            written += write_picture(exhibit, folder / "figures")
    return written
