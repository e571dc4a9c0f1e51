"""The tutorials as notebooks, made of the text and code of their pages while the site is built."""

from pathlib import PurePosixPath

import jupytext
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def notebook(page: str) -> str:
    """A page as a notebook: each block of Python is a cell to run."""
    made = jupytext.reads(page, "md")
    made.metadata = {"kernelspec": KERNEL}
    return jupytext.writes(made, "ipynb")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Lay a notebook beside each tutorial; mkdocs calls this."""
    for page in files.documentation_pages():
        if page.src_uri.startswith("tutorials/"):
            place = PurePosixPath(page.src_uri).with_suffix(".ipynb").as_posix()
            files.append(File.generated(config, place, content=notebook(page.content_string)))
    return files
