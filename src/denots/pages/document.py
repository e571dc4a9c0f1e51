"""A page as one file of HTML: its head, its style and its tables."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

STYLE = """
:root{color-scheme:light}
body{font:16px/1.5 system-ui,"DejaVu Sans",sans-serif;color:#1b1f24;background:#fff;max-width:66rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2.2rem 0 .4rem}
h3{font-size:1rem;margin:1.4rem 0 .2rem;overflow-wrap:anywhere}h4{font-size:.92rem;margin:1rem 0 .2rem}p{max-width:46rem;overflow-wrap:anywhere}
a{color:#0b4f9e}nav a{margin-right:1rem;white-space:nowrap}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:.15rem 1.2rem;margin:.6rem 0}
dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere}
.soft,figcaption,caption{color:#4b5663;font-size:.9rem}caption{text-align:left;padding-bottom:.3rem}
.wide{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .8rem .2rem 0;text-align:right;border-bottom:1px solid #d9dee4;vertical-align:top}
td{white-space:nowrap}th:first-child,td:first-child{text-align:left;white-space:normal}
table.grid th,table.grid td{padding:.25rem .6rem;text-align:right}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:1rem 1.6rem;margin:.8rem 0}
figure{margin:0;min-width:0;break-inside:avoid}figure.row{grid-column:1/-1}figure b{color:#1b1f24}svg{display:block}
.charts svg{width:100%;height:auto;max-width:30rem}text{font-size:11px;fill:#4b5663}
.legend{list-style:none;margin:.1rem 0 0;padding:0;font-size:.85rem;display:flex;flex-wrap:wrap;gap:0 .9rem}
.legend svg{display:inline-block;width:24px;height:10px;margin-right:.3rem}
pre{background:#f3f6f9;padding:.8rem;white-space:pre-wrap;overflow-wrap:anywhere}
@media(max-width:30rem){table{font-size:.82rem}th,td{padding-right:.55rem}table.grid th,table.grid td{padding:.25rem .4rem}}
@media print{body{font-size:10pt;max-width:none;padding:0}nav{display:none}.wide{overflow:visible}h2,h3{break-after:avoid}
tr{break-inside:avoid}.charts{grid-template-columns:repeat(2,minmax(0,1fr))}}
"""


def document(title: str, body: str) -> str:
    """The whole page; `body` is HTML, the title is text."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def facts(told: Mapping[str, str]) -> str:
    """Names and what is known under each."""
    pairs = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in told.items())
    return f"<dl>{pairs}</dl>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> str:
    """Rows of text; a wide table scrolls by itself, by mouse and by keyboard."""
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return scrolled(f"<table>{header(head)}<tbody>{''.join(f'<tr>{row}</tr>' for row in cells)}</tbody></table>", label)


def header(head: Sequence[str]) -> str:
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return f"<thead><tr>{cells}</tr></thead>"


def scrolled(content: str, label: str) -> str:
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(label)}">{content}</div>'


def number(value: float) -> str:
    """Four digits, nothing where there is no number."""
    return "" if math.isnan(value) else f"{value:.4g}"
