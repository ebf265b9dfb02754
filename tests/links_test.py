"""Every link of the Markdown pages leads somewhere: files, pictures and headings. With a folder, the same of the site that is in it.

    python3 tests/links_test.py [FOLDER OF HTML]

Only the standard library is needed, and no network: links to other hosts are not followed.
"""
import os
import re
import sys
import unicodedata
import urllib.parse
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|(?:src|srcset|href)=\"([^\"]+)\"")
PAGE = re.compile(r"(?:docs/)?[\w./-]+\.md")


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return "".join("-" if c == " " else c for c in text
                   if c in " -_" or unicodedata.category(c)[0] in "LN")


@cache
def anchors(path):
    found = {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE):
        name = slug(heading)
        found[name] = found.get(name, -1) + 1
    return {name if n == 0 else f"{name}-{n}" for name, last in found.items() for n in range(last + 1)}


def problems_of_markdown(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for named in CODE.finditer(text):
        if PAGE.fullmatch(named[2]) and not any((base / named[2]).exists() for base in (ROOT, path.parent, ROOT / "docs")):
            yield f"names {named[2]}, which is not there"
    for match in LINK.finditer(CODE.sub("", text)):
        target = match[1] or match[2]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = urllib.parse.unquote(target).partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            yield f"links to {target}, which is not there"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"links to {target}, but {file.name} has no such heading"


class Html(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif name in ("href", "src") and tag in ("a", "img", "script", "link") and value:
                self.links.append(value)


@cache
def html(path):
    return Html(path)


def problems_of_html(path):
    for target in html(path).links:
        if re.match(r"[a-z]+:|//", target):
            continue
        name, _, anchor = urllib.parse.unquote(target).partition("#")
        file = (path.parent / name.split("?")[0]).resolve() if name else path
        if not file.exists():
            yield f"links to {target}, which is not there"
        elif anchor and file.suffix == ".html" and anchor not in html(file).ids:
            yield f"links to {target}, but {file.name} has no such place"


def markdown_pages():
    for folder, inner, files in os.walk(ROOT):
        inner[:] = [name for name in inner if name not in ("build", "runs", "node_modules") and not name.startswith(".")]
        yield from (Path(folder) / name for name in files if name.endswith(".md"))


def main(folder=None):
    if folder:
        pages = [path for path in sorted(Path(folder).resolve().rglob("*.html"))
                 if "results" not in path.parts[-2:-1] or path.name == "README.html"]
        found, shown = problems_of_html, Path(folder).resolve()
    else:
        pages, found, shown = sorted(markdown_pages()), problems_of_markdown, ROOT
    problems = [f"{path.relative_to(shown)} {problem}" for path in pages for problem in found(path)]
    print("\n".join(problems) or f"{len(pages)} pages: every link leads somewhere")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
