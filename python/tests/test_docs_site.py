"""docs/tutorial.md is true, and the reference pages of the site have what there is."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import pits

SOURCE = pathlib.Path(__file__).parents[2]
PROGRAM = os.environ.get("PITS_PROGRAM", "")
needs_program = pytest.mark.skipif(not PROGRAM, reason="PITS_PROGRAM does not name the program")


@pytest.fixture(scope="module")
def site():
    sys.path.insert(0, str(SOURCE / "docs" / "site"))
    try:
        import layout
        import reference
        yield reference, layout
    finally:
        sys.path.pop(0)


@needs_program
def test_the_tutorial_prints_what_it_says():
    data = subprocess.run([PROGRAM, "run", "--agent", "uniform", "--env", "statlog", "--steps", "10", "--realizations", "1"],
                          capture_output=True, text=True)
    if data.returncode == 3 and "statlog" in data.stderr:
        pytest.skip(f"the first step needs data: {data.stderr}")
    done = subprocess.run([sys.executable, SOURCE / "scripts/tutorial", "--program", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_where_numbers_vary_a_difference_keeps_its_sign():
    loader = importlib.machinery.SourceFileLoader("tutorial", str(SOURCE / "scripts" / "tutorial"))
    tutorial = importlib.util.module_from_spec(importlib.util.spec_from_loader("tutorial", loader))
    loader.exec_module(tutorial)
    line = "uniform   0.3328  [0.2529, 0.4621]    -0.1828  [-0.2547, -0.0866]        369"
    assert tutorial.words(line) == tutorial.words("uniform   0.31  [0.2, 0.4]   -0.2  [-0.27, 0.01]   37")
    assert tutorial.words(line) != tutorial.words(line.replace("-0.1828", "+0.1828"))
    assert tutorial.words(line) != tutorial.words(line.replace("uniform", "logged"))


def test_the_picture_of_the_report_has_the_numbers_of_the_tutorial():
    said = re.search(r"lowest mean normalised regret, ([\d.]+) ± ([\d.]+);", (SOURCE / "docs/gallery.md").read_text(encoding="utf-8"))
    row = re.search(r"^pi-ts:fast +([\d.]+) ± ([\d.]+)", (SOURCE / "docs/tutorial.md").read_text(encoding="utf-8"), re.MULTILINE)
    wrong = "docs/pictures/report.png is of an older run: make it again, and its text in docs/gallery.md"
    assert [f"{float(number):.1f}" for number in row.groups()] == list(said.groups()), wrong


# Warnings are errors: a docstring that is no text, a link to a page that the site does not have.
@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if not PROGRAM:
        pytest.skip("PITS_PROGRAM does not name the program")
    folder = tmp_path_factory.mktemp("site")
    pytest.importorskip("sphinx", reason="needs Debian's python3-sphinx")
    pytest.importorskip("myst_parser", reason="needs Debian's python3-myst-parser")
    pytest.importorskip("furo", reason="needs Debian's furo")
    run = lambda *words: subprocess.run([sys.executable, *words], capture_output=True, text=True,
                                        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    steps = [(SOURCE / "docs/site/sources.py", folder / "source", PROGRAM),
             ("-m", "sphinx", "-q", "-W", "--keep-going", "-c", SOURCE / "docs/site", "-d", folder / "trees", folder / "source",
              folder / "html"),
             (SOURCE / "tests/links_test.py", folder / "html")]
    for step in steps:
        done = run(*step)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def test_the_site_is_built_without_a_warning(built):
    index = (built / "searchindex.js").read_text(encoding="utf-8")
    assert "propens" in index and "livebandit" in index  # pages and the reference can be searched
    assert "@import" not in (built / "_static/styles/furo.css").read_text()  # opens from disk: no path of a web server


def test_the_site_works_in_a_browser(built):
    chromium, node = shutil.which("chromium"), shutil.which("node") or shutil.which("nodejs")
    packages = pathlib.Path(os.environ.get("PITS_BUILD_TREE", "")) / "web" / "package"
    if not chromium or not node or not (packages / "node_modules" / "playwright-core").is_dir():
        pytest.skip("needs Chromium, node, and a build that made the pages with npm")
    done = subprocess.run([node, "--test", SOURCE / "docs/site/browser.test.mjs"], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "SITE": str(built), "NODE_PACKAGES": str(packages), "CHROMIUM": chromium})
    assert done.returncode == 0, done.stdout[-5000:]


def test_every_page_has_a_place(site):
    _, layout = site
    pages = {page.removesuffix(".md") for page in layout.markdown()}
    generated = {"reference/command-line", "reference/python", "reference/cpp", "reference/http"}
    listed = [page for _, here in layout.titled(layout.SECTIONS, pages | generated) for page in here]
    assert len(listed) == len(set(listed)) and set(listed) | {"index"} == pages | generated


def test_python_names_are_all_in_the_reference(site):
    text = site[0].python_page()
    hidden = {"__version__", "simd_target", "agents", "environments", "flows", "PiTS", "Decision", "LiveDecision", "LiveStatus",
              "ServiceDecision"}
    assert [name for name in pits.__all__ if name not in hidden and f":: pits.{name}\n" not in text] == []
    for name in [*pits.agents.by_name, *pits.environments.by_name, *pits.flows.by_name]:
        assert f"| `{name}` |" in text, name


def test_headers_without_their_private_parts(site):
    text = site[0].cpp_page()
    for public in ("Choice decide(ContextView x", "Answer reward(const Reward& reward);", "struct LiveSetup {", "class Schema {",
                   "### LiveBandit", "double floor = 0.02;"):
        assert public in text, public
    assert not re.search(r"^ private:|learner_thread_|std::mutex mutex_;", text, re.MULTILINE)
    assert text.count("```") % 2 == 0


@needs_program
def test_routes_and_commands_are_all_in_the_reference(site):
    text = site[0].http_page(PROGRAM)
    for route in ("PUT /v1/bandits/{name}", "POST /v1/bandits/{name}/decide", "POST /v1/bandits/{name}/rewards", "GET /metrics"):
        assert f"| `{route}` |" in text, route
    assert "| `floor` | number |" in text and "### Rewards" in text
    text = site[0].command_line_page(PROGRAM)
    for command in ("run", "reproduce", "sample", "evaluate", "serve", "log export", "data fetch"):
        assert f"# pits {command}\n" in text, command
