"""What the records say in a few sentences: what holds, what does not, and what to do instead."""

from collections.abc import Callable, Sequence

from denots.experiments.claims import Evidence, Judged, Judgement
from denots.experiments.exhibit import format_ours
from denots.experiments.main_table import JUDGED_ON, SHOWN

PARTS: dict[str, Judgement] = {"Holds": "confirmed", "Does not hold": "not confirmed", "Undecided": "undecided"}


def tell(judged: Sequence[Judged], published: Evidence, fair: Evidence, best: Evidence) -> dict[str, list[str]]:
    """Sentences by heading, each with numbers of the records; what has no record is not told."""
    found = {
        heading: [f"{each.claim.text}{_but(each)}" for each in judged if each.judgement == verdict]
        for heading, verdict in PARTS.items()
    }
    advice = [sentence(published) for sentence in (_centre, _patience, _tolerance)]
    advice.append(_leaders(fair, "Try other systems, too. On equal terms the best are, by their means, on {}.".format))
    advice.append(
        _leaders(best, "With one good recipe for all, and no depth chosen for anybody, they are on {}.".format)
    )
    found["What to do instead"] = [sentence for sentence in advice if sentence]
    return {heading: sentences for heading, sentences in found.items() if sentences}


def _but(judged: Judged) -> str:
    return f" ({judged.but})" if judged.but else ""


def _centre(published: Evidence) -> str:
    return _with_numbers(
        published,
        (
            ("targets", "sync, raw target", "depth 10: R2"),
            ("targets", "sync, centred target", "depth 10: R2"),
            ("targets", "sync, raw target", "depth 10: mean size of h"),
            ("targets", "sync, centred target", "depth 10: mean size of h"),
        ),
        "Standardise the target, or centre it at least. With the raw target synchronous feedback has an R2 of {} on SineMix, with "
        "the centred one {}: it does not forget, the offset uses up its states, which are within 1 (their mean size is {} and {}).".format,
    )


def _patience(published: Evidence) -> str:
    return _with_numbers(
        published,
        (("protocol", "as published", "depth 10: R2"), ("protocol", "all three", "depth 10: R2")),
        "Train until it stops improving. With target and channels standardised once and a patience of ten epochs, DeNOTS at depth "
        "10 on Pendulum goes from {} as published to {}.".format,
    )


def _tolerance(published: Evidence) -> str:
    return _with_numbers(
        published,
        (("bump", "tanh", "default"), ("bump", "tanh", "depth 20"), ("bump", "tanh", "tolerance 1e-6")),
        "Solve accurately before going deep. On Bump the tanh field has an AUROC of {}, at depth 20 {}, with a tolerance of 1e-6 {}.".format,
    )


def _leaders(evidence: Evidence, words: Callable[..., str]) -> str:
    """The words with the best system of each data set; nothing while nobody is compared."""
    parts = []
    for dataset in JUDGED_ON:
        cells = {name: cell for name in SHOWN if (cell := evidence.cell("main", name, dataset)).values}
        if "denots" in cells and len(cells) > 1:
            best = max(cells, key=lambda name: cells[name].mean)
            parts.append(f"{dataset}: {best} {format_ours(cells[best], 3)}, DeNOTS {format_ours(cells['denots'], 3)}")
    return words("; ".join(parts)) if parts else ""


def _with_numbers(evidence: Evidence, places: Sequence[tuple[str, str, str]], words: Callable[..., str]) -> str:
    """The words with the numbers of these cells; nothing while one of them is empty."""
    cells = [evidence.cell(*place) for place in places]
    return words(*(format_ours(cell, 3) for cell in cells)) if all(cell.values for cell in cells) else ""
