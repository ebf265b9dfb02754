"""The order of the site's pages, and where each one comes from."""
import pathlib

REPOSITORY = pathlib.Path(__file__).parents[2]

# Pages without .md. What no section names is listed under the last one.
SECTIONS = {
    "Start": ["tutorial", "gallery"],
    "Use": ["experiments", "data", "python", "guide", "service", "operations", "scale", "evaluation", "from-personalizer"],
    "Look up": ["agents", "reference/command-line", "reference/python", "reference/cpp", "reference/http", "versions"],
    "Method": ["method", "equations", "regret", "flows", "sampling", "diagnostics", "reproduction", "results/README",
               "search-log"],
    "Measured": ["performance", "performance-gpu", "reliability"],
    "Code": ["ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "web/README"],
    "Decisions and more": [],
}


def titled(sections, pages):
    """(caption, pages that exist) of each section."""
    rest = sorted(pages - {"index", *(page for listed in sections.values() for page in listed)})
    last = list(sections)[-1]
    for caption, listed in sections.items():
        here = [page for page in listed if page in pages] + (rest if caption == last else [])
        if here:
            yield caption, here


def markdown():
    """{page of the site: file in the repository}, both relative and with .md."""
    docs = REPOSITORY / "docs"
    found = {path.relative_to(docs): path.relative_to(REPOSITORY) for path in sorted(docs.rglob("*.md"))
             if "results/tables" not in path.as_posix() and "results/cpu" not in path.as_posix()}
    for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "web/README.md"):
        found[pathlib.Path(name)] = pathlib.Path(name)
    return {page.as_posix(): file.as_posix() for page, file in found.items()}
