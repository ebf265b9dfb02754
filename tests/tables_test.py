"""The tables of README.md and docs that come from docs/results say what its files say, digit by digit.

A table is checked where the comment `<!-- results: NAME -->` stands above it. Only the standard library is needed:
    python3 tests/tables_test.py [ROOT]
"""
import csv
import json
import math
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1])
RESULTS = ROOT / "docs/results"
MARK = re.compile(r"<!-- results: (\S+) -->\n((?:\|.*\n)+)")
ENVIRONMENTS = {"wheel": "wheel,delta=0.95", "sparse linear": "sparse_linear"}
# Fields have been renamed since the files were written.
RECORDED = {"mean_shrinkage": "disagreement", "posterior_scale": "exploration", "scale_prior": "doubt"}
COLUMNS = {"linear": "Linear, d = 10", "sparse_linear": "Sparse linear, d = 10", "wheel,delta=0.95": "Wheel, δ = 0.95"}


def environment(label):
    label = re.sub(r"[¹²³]|, δ = 0.95", "", label).strip().lower()
    return ENVIRONMENTS.get(label, label)


def recorded(label):
    """The agent of a row, such as `units=raw`, as the files name it."""
    spec = label.strip("`")
    for now, before in RECORDED.items():
        spec = spec.replace(now, before)
    return f"pi-ts,{spec}" if "=" in spec else spec


@cache
def cells(name, folder="auto"):
    """{(agent, environment): {realization: normalised regret}} of rounds in their first horizon."""
    out = {}
    for line in (RESULTS / folder / f"{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        regrets = out.setdefault((row["agent"], row["env"]), {})
        regrets.setdefault(row["realization"], 100 * row["regret"] / row["uniform_regret"])
    return out


def mean_and_error(values):
    values = list(values)
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))


def plain(values):
    return "{:.2f} ± {:.2f}".format(*mean_and_error(values))


def difference(values, base, bold):
    """Paired; 0 where nothing differs; bold above three standard errors."""
    mean, error = mean_and_error(values[r] - base[r] for r in base)
    if mean == error == 0.0:
        return "0"
    text = f"{mean:+.2f} ± {error:.2f}".replace("-", "−")
    return f"**{text}**" if bold and abs(mean) > 3 * error else text


def default(env):
    found = cells("results", "default").get(("pi-ts", env))
    return plain(found.values()) if found else ""


def exact(env):
    """pi-ts:exact was the default when docs/results/auto was made; the cells with the most realizations."""
    files = {"mushroom": "mushroom-200", "wheel,delta=0.95": "wheel-150"}
    return plain(cells(files.get(env, "results"))["pi-ts", env].values())


def published(label, env):
    """The mean of a table that `pits reproduce` wrote."""
    for name in ("benchmark", "linear", "wheel"):
        with open(RESULTS / f"tables/{name}-normalized-regret.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["Normalised regret"] != label:
                    continue
                for column, cell in row.items():
                    if column.lower().startswith(COLUMNS.get(env, env).lower()):
                        return cell.split(" ± ")[0]
    raise KeyError(f"{label} on {env}")


@cache
def reproduced(folder):
    return json.loads((RESULTS / folder / "table-2.json").read_text())


def table_2(row, env):
    """Rows of the paper's table, each from the run that its label names; the default comes from its own files."""
    if "our default" in row:
        return default(env)
    if "paired" in row:  # its standard error needs cells that are not kept
        gpu, cpu = ([c["mean"] for c in reproduced(folder)["cells"] if (c["agent"], c["env"]) == ("pi-ts:released", env)][0]
                    for folder in ("tables", "cpu"))
        return f"{gpu - cpu:+.2f}".replace("-", "−")
    row = re.sub(r"[²³]", "", row)
    folder = "cpu" if "CPU" in row else "tables"
    label = {"the same, step restarted": "Neural Linear, step restarted"}.get(row, row.split(",")[0])
    found = reproduced(folder)
    agent = next(a for a in found["agents"] if a["label"] == label)
    cell = next(c for c in found["cells"] if (c["agent"], c["env"]) == (agent["agent"], env))
    paper = "" if agent["variant_of"] else f" ({cell['paper_mean']:.2f})"
    return f"{cell['mean']:.2f} ± {cell['se']:.2f}{paper}"


def fast(env):
    return plain(cells("fast", "default")["pi-ts:fast", env].values())


OURS = {"`pi-ts`": default, "`pi-ts:fast`": fast, "`pi-ts:exact`": exact}


def scores(row, env):
    if row == "paper, best method":
        found = [c["paper_mean"] for c in reproduced("tables")["cells"] if c["env"] == env]
        return f"{min(found):.2f}" if found else ""
    if row in OURS:
        return OURS[row](env)
    return published({"`pi-ts:released`": "π-TS-DGF"}.get(row, row), env)


def rivals(row, env):
    return OURS[row](env) if row in OURS else plain(cells("rivals")[recorded(row), env].values())


def long(row, env):
    if row == "`pi-ts:exact`":
        return plain(cells("long")["pi-ts", env].values())
    return plain(cells("long", "default")[recorded(row), env].values()) if "pi-ts" in row else None


def products(row, agent):
    agent = re.sub("[¹²³]$", "", agent)
    for line in (RESULTS / "default/products.jsonl").read_text().splitlines():
        cell = json.loads(line)
        if (cell["env"], cell["agent"]) == (row.strip("`"), agent.strip("`")):
            return f"{cell['mean']:.2f} ± {cell['se']:.2f}"
    return ""


def full_information(row, env):
    told = cells("full-information")["pi-ts,exploration=0", env]
    alone = cells("results")["pi-ts", env]
    return plain(told.values() if row == "full information" else [alone[r] for r in told])


def ablation(row, env):
    found = cells("ablation")
    base = found["pi-ts", env]
    return plain(base.values()) if row == "`pi-ts`" else difference(found[recorded(row), env], base, bold=True)


def other_tables(row, agent):
    found = cells("other-tables")
    base = found["pi-ts", row]
    return plain(base.values()) if agent == "`pi-ts`" else difference(found[recorded(agent), row], base, bold=False)


EXPECTED = {"table-2": table_2, "scores": scores, "rivals": rivals, "long": long, "full-information": full_information,
            "ablation": ablation, "other-tables": other_tables, "products": products}


def split(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def check(page, name, text):
    lines = text.splitlines()
    header, wrong = split(lines[0]), []
    for line in lines[2:]:
        row, *found = split(line)
        for column, cell in zip(header[1:], found, strict=True):
            if column.startswith("µs"):
                continue  # no file of docs/results holds times
            cell = cell.split(" ± ")[0] if "paired" in row else re.sub("[²³]$", "", cell)
            expected = EXPECTED[name](row, column if name in ("other-tables", "products") else environment(column))
            if expected is not None and cell != expected:
                wrong.append(f"{page}, table {name}, {row}, {column}: {cell}, but docs/results says {expected}")
    return wrong


def main():
    wrong, checked = [], 0
    pages = {"README.md": 1, "docs/index.md": 1, "docs/results/README.md": 1, "docs/regret.md": 5, "docs/search-log.md": 3}
    for page, tables in pages.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        marked = MARK.findall(text)
        if len(marked) != tables:
            wrong.append(f"{page} has {len(marked)} tables below <!-- results: NAME -->, not {tables}")
        for name, table in marked:
            wrong += check(page, name, table)
            checked += table.count("±")
        if page == "README.md" and "±" in re.sub(r"mean ± standard error", "", MARK.sub("", text)):
            wrong.append("README.md has a result (±) outside the tables that are checked")
    print("\n".join(wrong) or f"{checked} results agree with docs/results")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
