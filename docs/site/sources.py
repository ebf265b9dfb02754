"""Writes the sources of the site: the Markdown of the repository, and the reference pages.

    python3 docs/site/sources.py DIRECTORY PROGRAM

Links are turned to where a page stands on the site; a page that is only named, `docs/guide.md`, becomes a link.
"""
import os
import pathlib
import posixpath
import re
import shutil
import sys

from layout import REPOSITORY, markdown
from reference import command_line_page, cpp_page, http_page, python_page

FENCE = re.compile(r"(^```.*?^```[ \t]*$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?\[(?:[^\]\[]|\[[^\]]*\])*\])\(([^)\s]+)\)")
NAMED = re.compile(r"(?<![\[`])`((?:\.\./)?[\w/.-]+\.md)`(?!\])")


class Moved:
    """Links of a file in the repository, as its page on the site needs them."""

    def __init__(self, page, file, pages, out):
        self.page, self.folder, self.out = page, posixpath.dirname(file), out
        self.page_of = {source: made for made, source in pages.items()}

    def path_to(self, target):
        """Of a file in the repository, from this page; None: it is not on the site."""
        if target in self.page_of:
            return posixpath.relpath(self.page_of[target], posixpath.dirname(self.page) or ".")
        if not (REPOSITORY / target).is_file() or not target.startswith("docs/"):
            return None
        copy = posixpath.relpath(target, "docs")  # pictures and reports stand where they stood beside the pages
        (self.out / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / target, self.out / copy)
        return posixpath.relpath(copy, posixpath.dirname(self.page) or ".")

    def link(self, match):
        text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        file, _, anchor = target.partition("#")
        moved = self.path_to(posixpath.normpath(posixpath.join(self.folder, file)))
        if moved is None:
            return text[1:-1]  # a file of the repository: its name
        if moved.endswith(".html"):
            return f'<a href="{moved}">{text[1:-1]}</a>'  # a page to open; Sphinx would offer it as a download
        return f"{text}({moved}{'#' + anchor if anchor else ''})"

    def named(self, match):
        for target in (match[1], posixpath.join(self.folder, match[1])):
            if posixpath.normpath(target) in self.page_of and self.page_of[posixpath.normpath(target)] != self.page:
                return f"[`{match[1]}`]({self.path_to(posixpath.normpath(target))})"
        return match[0]

    def text(self, source):
        parts = FENCE.split(source)
        return "".join(part if i % 2 else NAMED.sub(self.named, LINK.sub(self.link, part)) for i, part in enumerate(parts))


def main(directory, program):
    out = pathlib.Path(directory)
    shutil.rmtree(out, ignore_errors=True)
    pages = markdown()
    for page, file in pages.items():
        (out / page).parent.mkdir(parents=True, exist_ok=True)
        text = (REPOSITORY / file).read_text(encoding="utf-8")
        (out / page).write_text(Moved(page, file, pages, out).text(text), encoding="utf-8")
    made = {"command-line": command_line_page(program), "python": python_page(), "cpp": cpp_page(),
            "http": http_page(program)}
    (out / "reference").mkdir()
    for name, text in made.items():
        (out / "reference" / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], os.path.abspath(sys.argv[2]))
