"""The page of a certificate."""

from html import escape

from denots.pages.chart import gallery
from denots.pages.document import document, facts, number, table
from denots.theory.certificate import Certificate, Claim, Range

TITLE = "Certificate of a DeNOTS model"
VERDICTS = {
    "on the reachable set": "Contracting on everything it can reach: any two trajectories of one signal approach each other. This is proved.",
    "only along these series": "Contracting along these series, wherever it was measured; elsewhere nothing is proved.",
    "nowhere shown": "Not shown to be contracting: trajectories of one signal may part for a while.",
}


def build_page(found: Certificate) -> str:
    """The page, readable without a network."""
    return document(TITLE, certificate_part(found, level=2))


def certificate_part(found: Certificate, *, level: int) -> str:
    """What a page says of a certificate, under headings of a level."""
    pictures = f"<h{level}>Along the series</h{level}>{gallery(found.charts)}" if found.charts else ""
    measured = f"<h{level}>Measured</h{level}><p class='soft'>True of the series that were measured; it proves nothing of others.</p>"
    return f"""<p><b>{escape(VERDICTS[found.contracting])}</b></p>
{facts(told(found))}
<h{level}>Proved</h{level}>
<p class="soft">By interval arithmetic in double precision from the weights and the ranges below, for every signal within them.</p>
{_claims(found.proved)}
{measured + _claims(found.measured) if found.measured else ""}
{pictures}
<h{level}>Ranges</h{level}>
{_ranges("of the signal, as the model reads it", found.inputs) if found.inputs else "<p>Any signal.</p>"}
{_ranges("of the components of the state", found.box)}
"""


def told(found: Certificate) -> dict[str, str]:
    """What the certificate is about."""
    return {
        "field": found.field,
        "stability": found.stability,
        "depth": f"{found.depth:g}",
        "series": str(found.series) if found.series else "none; what is proved holds without any",
    }


def _claims(claims: tuple[Claim, ...]) -> str:
    return f"<ul>{''.join(f'<li>{escape(claim.words)}</li>' for claim in claims)}</ul>"


def _ranges(label: str, ranges: tuple[Range, ...]) -> str:
    rows = ((one.name, number(one.low), number(one.high)) for one in ranges)
    return f"<p class='soft'>{escape(label)}</p>{table(('name', 'lowest', 'highest'), rows, f'ranges {label}')}"
