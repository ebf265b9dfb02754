"""The reference pages of the site, from what is there: --help, docstrings, headers, /openapi.json."""
import http.client
import json
import pathlib
import re
import socket
import subprocess
import tempfile
import time

from layout import REPOSITORY


# The command line.

def _help(program, words):
    return subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout.rstrip()


def _commands(text):
    """Names of the subcommands that a help text lists."""
    part = re.search(r"^(?:Subcommands|SUBCOMMANDS|Commands):\n((?:  .*\n?)*)", text, re.MULTILINE)
    return re.findall(r"^  (\w[\w-]*)", part[1], re.MULTILINE) if part else []


def _part(text):
    """A paragraph of a help text: a list of options as a table, anything else as it is."""
    title, *lines = text.splitlines()
    rows = [re.fullmatch(r"  (\S.*?)  +(\S.*)", line) for line in lines]
    if not rows or not all(rows):
        return f"```text\n{text}\n```\n"
    table = "".join("| `{}` | {} |\n".format(*(cell.replace("|", "\\|") for cell in row.groups())) for row in rows)
    return f"| {title.rstrip(':').lower()} | what |\n|---|---|\n{table}"


def _shown(text):
    return "\n".join(_part(part) for part in text.split("\n\n"))


def command_line_page(program):
    text = "# The command line\n\nEvery command and option, from `pits COMMAND --help`.\n"
    for command in _commands(_help(program, [])):
        shown = _help(program, [command])
        text += f"\n## pits {command}\n\n{_shown(shown)}"
        for part in _commands(shown):
            text += f"\n### pits {command} {part}\n\n{_shown(_help(program, [command, part]))}"
    return text


# Python: autodoc reads signatures and docstrings of the package that was built.

PYTHON = [
    ("Experiments", ["function pits.run", "class pits.Result"]),
    ("Bandits in memory", ["class pits.Bandit", "function pits.load"]),
    ("Bandits in a service", ["class pits.LiveBandit", "class pits.Schema", "class pits.Client", "exception pits.ServiceError"]),
    ("Evaluation", ["function pits.evaluate", "class pits.Evaluation"]),
    ("Problems", ["class pits.Environment", "class pits.Round"]),
    ("Gymnasium", ["function pits.gymnasium.as_env", "function pits.gymnasium.as_environment"]),
    ("Errors", ["exception pits.Error", "exception pits.InputError", "exception pits.FailedError"]),
]


def _catalogue(title, module, names, what):
    rows = "".join(f"| `{module}.{made}` | `{name}` | {summary} |\n" for made, name, summary in names)
    return f"\n## {title}\n\n{what}\n\n| class or function | name | what it is |\n|---|---|---|\n{rows}"


def python_page():
    import pits
    text = ("# Python\n\nThe names of the package `pits`, from their docstrings and signatures. [`docs/python.md`](../python.md) "
            "explains them with examples.\n")
    for title, names in PYTHON:
        text += f"\n## {title}\n"
        for entry in names:
            kind, name = entry.split()
            members = "\n   :members:" if kind == "class" else ""
            text += f"\n```{{eval-rst}}\n.. auto{kind}:: {name}{members}\n```\n"
    first = lambda thing: (thing.__doc__ or "").strip().splitlines()[0].rstrip(".").replace("|", "\\|")
    agents = [(made.__name__, name, first(made)) for name, made in pits.agents.by_name.items()]
    environments = [(made.__name__, name, first(made)) for name, made in pits.environments.by_name.items()]
    flows = [(name.replace("-", "_"), name, first(made)) for name, made in pits.flows.by_name.items()]
    text += _catalogue("Agents", "pits.agents", agents, "Each takes the fields of `pits list agents NAME` as keywords, and has "
                       "the methods of {py:class}`pits.Bandit`.")
    text += _catalogue("Problems of the catalogue", "pits.environments", environments,
                       "Each takes the fields of `pits list environments NAME`, and has the methods of {py:class}`pits.Environment`.")
    text += _catalogue("Flows", "pits.flows", flows, "Each moves particles along the gradient of a log density: "
                       "`pits.flows.svgd(gradient, particles, steps=300)`. `help(pits.flows.svgd)` lists the keywords.")
    return text


# C++: the public headers, read in the order in which one needs them.

HEADERS = ["log/live_bandit.h", "log/live_config.h", "log/event.h", "log/store.h", "log/sqlite_store.h", "log/audit.h",
           "schema/schema.h", "schema/feature.h", "bandit/bandit.h", "bandit/serving_policy.h", "agent/agent.h",
           "agent/query.h", "agent/catalogue.h", "evaluate/evaluation.h", "core/error.h"]


def _prose(comment):
    """Lines of // as Markdown: what is indented is code."""
    text, in_code = [], False
    for line in (re.sub(r"^// ?", "", line) for line in comment):
        code = line.startswith("  ")
        if code != in_code:
            text += ["", "```cpp"] if code else ["```", ""]
        in_code = code
        text.append(line[2:] if code else re.sub(r"([*_<>`\[\]])", r"\\\1", line))
    return "\n".join([*text, "```"] if in_code else text).strip()


def _blocks(body):
    """Declarations of a header with the comment above each, split where nothing is open."""
    block, depth = [], 0
    for line in body:
        if not line.strip() and depth == 0:
            if block:
                yield block
            block = []
            continue
        code = line.split("//")[0]
        depth += code.count("{") - code.count("}")
        block.append(line)
    if block:
        yield block


def _public(lines):
    """A class without its private part."""
    kept, hidden = [], False
    for line in lines:
        if re.fullmatch(r" private:", line):
            hidden = True
        elif line.startswith("};"):
            hidden = False
        if not hidden:
            kept.append(line)
    while len(kept) > 1 and kept[-1] == "};" and not kept[-2].strip():
        del kept[-2]
    return kept


def _name(code):
    for line in code:
        made = re.match(r"(?:class|struct|enum class) (\w+)(?! *;)", line)
        if made:
            return made[1]
    first = next((line for line in code if "(" in line and not line.startswith(("template", " "))), None)
    return re.search(r"([\w]+)\(", first)[1] if first else None


def _header(file):
    lines = (REPOSITORY / "src/pits" / file).read_text(encoding="utf-8").splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    text = f"\n## `pits/{file}`\n\n{_prose(lines[:end])}\n"
    start = lines.index("namespace pits {")
    stop = len(lines) - 1 - lines[::-1].index("}  // namespace pits")
    for block in _blocks(lines[start + 1:stop]):
        size = next((i for i, line in enumerate(block) if not line.startswith("//")), len(block))
        comment, code = block[:size], _public(block[size:])
        if not code or all(line.startswith(("class ", "struct ")) and line.endswith(";") for line in code):
            continue
        name = _name(code)
        text += (f"\n### {name}\n" if name else "") + (f"\n{_prose(comment)}\n" if comment else "")
        text += "\n```cpp\n" + "\n".join(code) + "\n```\n"
    return text


def cpp_page():
    text = ("# C++\n\nThe public headers, without their private parts. A service starts at `pits/log/live_bandit.h`, an experiment at "
            "`pits/bandit/bandit.h`. [`docs/guide.md`](../guide.md) has whole programs; link with `pits::bandit` "
            "(`find_package(pits)`, see `examples/shop`).\n")
    return text + "".join(_header(file) for file in HEADERS)


# HTTP: asked of the program.

class _Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(self.path)


def _openapi(program):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/http"
        service = subprocess.Popen([program, "serve", "--store", f"{folder}/store", "--listen", f"unix:{path}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            deadline = time.monotonic() + 60
            while not pathlib.Path(path).exists():
                if service.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"pits serve does not start: {service.stderr.read()}")
                time.sleep(0.02)
            connection = _Connection(path)
            connection.request("GET", "/openapi.json")
            return json.loads(connection.getresponse().read())
        finally:
            service.terminate()
            service.wait()


def _type(schema):
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "oneOf" in schema or "allOf" in schema:
        joint = " or " if "oneOf" in schema else " and "
        return joint.join(_type(one) for one in schema.get("oneOf", schema.get("allOf")))
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and "properties" in schema:
        return "{" + ", ".join(f"{name}: {_type(one)}" for name, one in schema["properties"].items()) + "}"
    return schema.get("type", "any")


def _fields(schema):
    required = schema.get("required", [])
    rows = "| field | type | what |\n|---|---|---|\n"
    for name, one in schema["properties"].items():
        what = one.get("description", "").replace("|", "\\|")
        need = "required" if name in required else ""
        rows += f"| `{name}` | {_type(one)} | {'; '.join(part for part in (what, need) if part)} |\n"
    return rows


def _content(part):
    return _type(part["content"]["application/json"]["schema"]) if "content" in part else ""


def http_page(program):
    document = _openapi(program)
    text = ("# HTTP\n\nThe routes of `pits serve` and the fields of every body, from its own `GET /openapi.json`. "
            "[`docs/service.md`](../service.md) explains them with examples.\n\n## Routes\n\n"
            "| request | what it does | body | answer | scope of the key |\n|---|---|---|---|---|\n")
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            scope = operation.get("description", "").removeprefix("Scope of the key: ") or "none"
            body = _content(operation["requestBody"]) if "requestBody" in operation else ""
            text += (f"| `{method.upper()} {path}` | {operation['summary']} | {body} | "
                     f"{_content(operation['responses']['200'])} | {scope} |\n")
    text += "\nWhat is refused is answered with a status of 400 or more and an [Error](#error).\n\n## Bodies\n"
    for name, schema in document["components"]["schemas"].items():
        text += f"\n### {name}\n\n" + (schema["description"] + ".\n\n" if "description" in schema else "")
        text += _fields(schema) if "properties" in schema else f"{_type(schema)}\n"
    return text
