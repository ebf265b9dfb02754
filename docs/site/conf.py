# Sphinx: the pages that sources.py has written, as one searchable site. scripts/site runs both.
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(__file__))
from layout import SECTIONS, titled  # noqa: E402

REPOSITORY = pathlib.Path(__file__).parents[2]

project = "pits"
author = "the authors of pits"
version = release = re.search(r"project\(pits VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text())[1]
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4  # as GitHub makes them
myst_update_mathjax = False
html_theme = "furo"
html_title = "pits"
# Debian's furo imports normalize.css from a path of Debian's web server.
html_static_path = ["static", "/usr/share/javascript/normalize.css/normalize.css"]
html_css_files = [("normalize.css", {"priority": 100}), "site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"sidebar_hide_name": True, "light_logo": "logo.svg", "dark_logo": "logo.svg"}
html_favicon = "static/logo.svg"
highlight_language = "text"
smartquotes = False  # options begin with --
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
suppress_warnings = ["myst.header"]


# The sources are plain Markdown without directives: the tree of pages is added here.
def add_tree(app, page, source):
    if page == "index":
        pages = set(app.env.found_docs)
        for caption, listed in titled(SECTIONS, pages):
            lines = "\n".join(listed)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"


# Docstrings are plain text: names stand in single backquotes, and fields on a line each.
def mark_up(app, what, name, thing, options, lines):
    for i, line in enumerate(lines):
        line = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line)
        lines[i] = re.sub(r"^ *(\w+ = \S*?): (.*)$", r"* ``\1``: \2", line)


# Pages that are HTML already, such as reports, stand beside the others.
def copy_pages(app, exception):
    theme = pathlib.Path(app.outdir) / "_static/styles/furo.css"  # its import of normalize.css leads nowhere
    theme.write_text(re.sub(r"@import url\(/javascript/[^)]*\);", "", theme.read_text()))
    for page in pathlib.Path(app.srcdir).rglob("*.html"):
        shutil.copy(page, pathlib.Path(app.outdir) / page.relative_to(app.srcdir))


def setup(app):
    app.connect("build-finished", copy_pages)
    app.connect("source-read", add_tree)
    app.connect("autodoc-process-docstring", mark_up)
