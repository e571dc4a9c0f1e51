"""The page on which a model is tried: a table in, answers and pictures out."""

from importlib.resources import files

from denots.pages.document import document
from denots.server.asked import PARAMETERS

SCRIPT = files("denots.server").joinpath("page.js").read_text(encoding="utf-8")
STYLE = """
form{margin:0}textarea{width:100%;box-sizing:border-box;min-height:11rem;font:.85rem/1.45 ui-monospace,"DejaVu Sans Mono",monospace;
padding:.6rem;border:1px solid #aeb8c2;border-radius:.3rem;white-space:pre;overflow:auto}
input,button{font:inherit;padding:.35rem .7rem;border:1px solid #aeb8c2;border-radius:.3rem;background:#fff;color:inherit}
button{cursor:pointer;background:#f3f6f9}button.main{background:#0b3c8c;border-color:#0b3c8c;color:#fff;font-weight:600}
button:disabled{opacity:.55;cursor:default}button:focus-visible,input:focus-visible,textarea:focus-visible,tr:focus-visible{outline:3px solid #8ab4f8;outline-offset:1px}
.row{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:end;margin:.7rem 0}.row label{display:flex;flex-direction:column;font-size:.9rem;color:#4b5663}
.row input[type=number]{width:7rem}label.file{max-width:100%}input[type=file]{max-width:100%;box-sizing:border-box}
#problem{border-left:4px solid #b2182b;background:#fdf1f1;padding:.6rem .9rem;margin:.9rem 0;max-width:none}#problem:empty{display:none}
#answers table tr[data-series]{cursor:pointer}#answers table tr[data-series]:hover{background:#f3f6f9}#answers tr.chosen{background:#e5eefb}
#reasons{padding-left:1.2rem;font-size:.9rem;overflow-wrap:anywhere}#reasons:empty{display:none}
.ok{color:#2e7d32}.unusual{color:#8a4b00}.failed{color:#b2182b}[hidden]{display:none!important}
"""


def build_page() -> str:
    """The page without anything about the model: the script asks for that, with the token."""
    body = f"""<style>{STYLE}</style><script src="/page.js" defer></script>
<form id="enter" hidden><div class="row"><label>Token of this server<input id="token" type="password" autocomplete="off"></label>
<button class="main">Open</button></div></form>
<p class="soft" id="facts" aria-live="polite"></p>
<p class="soft"><a href="/docs">How programs ask</a></p>
<form id="ask" hidden>
<h2>A table</h2>
<p class="soft" id="columns"></p>
<textarea id="table" spellcheck="false" aria-label="the table, as CSV, JSON or lines of JSON"></textarea>
<div class="row"><label class="file">or a file<input id="file" type="file" accept=".csv,.tsv,.json,.ndjson,.jsonl,.txt"></label>
<label id="at-label" hidden>at times<input id="at" placeholder="24,36,48" title="{PARAMETERS["at"]}"></label>
<label id="coverage-label" hidden>coverage<input id="coverage" type="number" min="0.01" max="0.99" step="0.01" title="{PARAMETERS["coverage"]}"></label>
<button class="main" id="send">Predict</button><button type="button" id="example">Put an example in</button></div>
</form>
<p id="problem" role="alert"></p>
<section id="answers" hidden><h2>Answers</h2><p class="soft" id="counts"></p><ul id="reasons"></ul><div class="wide" role="region" tabindex="0" aria-label="answers"></div>
<div class="row"><button type="button" id="save">Save as CSV</button></div></section>
<section id="picture" hidden><h2></h2><div></div></section>
<noscript><p>This page needs JavaScript; programs ask without it.</p></noscript>"""
    return document("Try the model", body)
