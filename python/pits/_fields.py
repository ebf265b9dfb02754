"""Keyword arguments from the C++ lists of fields: a new field there is a new keyword here."""
from __future__ import annotations

import inspect
import keyword
import re
from typing import Any, Iterable, Mapping, Optional, Sequence

from ._pits import InputError

Field = Mapping[str, Any]  # name, doc, type, choices, value (as text)

UINT32 = 2**32 - 1
INT64 = 2**63 - 1
UINT64 = 2**64 - 1


def flag(name: str, value: Any) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):
        raise InputError(f"{name} must be True or False, not {value!r:.100}")
    return bool(value)


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} must be text, not {value!r:.100}")
    return value


def to_keyword(name: str) -> str:
    """The keyword argument of a field: `lambda_` for lambda."""
    return name + "_" if keyword.iskeyword(name) else name


def from_keyword(name: str) -> str:
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


def to_text(name: str, value: Any) -> str:
    """A value as a spec writes it.

    >>> to_text("hidden", [50, 50]), to_text("restart", True), to_text("step", 1e-3), to_text("flow", "svgd")
    ('50x50', 'true', '0.001', 'svgd')
    """
    if value is None:
        return "none"
    if isinstance(value, str):
        if "," in value:
            raise InputError(f"{name} can't have a comma in it: '{value}'")
        return value
    if type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if isinstance(value, Iterable):
        return "x".join(to_text(name, v) for v in value) or "none"
    if hasattr(value, "item"):  # numpy's numbers
        value = value.item()
    if isinstance(value, (int, float)):
        return repr(value)
    raise TypeError(f"{name} can't be a {type(value).__name__}")


def to_texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {from_keyword(name): to_text(name, value) for name, value in values.items()}


def _number(text: str) -> Any:
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def to_value(field: Field) -> Any:
    """The value of a field in Python's types."""
    text, kind = field["value"], field["type"]
    if kind == "bool":
        return text == "true"
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind in ("ints", "floats"):
        number = int if kind == "ints" else float
        return [] if text == "none" else [number(part) for part in text.split("x")]
    return _number(text) if kind == "other" else text


def values(fields: Sequence[Field]) -> dict[str, Any]:
    return {field["name"]: to_value(field) for field in fields}


def spec(name: str, after_colon: Optional[str], given: Mapping[str, Any]) -> str:
    """NAME[:PRESET][,field=value...], as the command line takes it; name may have fields already.

    >>> spec("pi-ts,flow=svgd", "released", {"particles": 3})
    'pi-ts:released,flow=svgd,particles=3'
    """
    bare, comma, rest = name.partition(",")
    head = name if after_colon is None else f"{bare}:{to_text('preset', after_colon)}{comma}{rest}"
    return ",".join([head] + [f"{field}={text}" for field, text in to_texts(given).items()])


def parameters(fields: Sequence[Field]) -> list[inspect.Parameter]:
    """Keyword-only parameters with their defaults."""
    return [inspect.Parameter(to_keyword(field["name"]), inspect.Parameter.KEYWORD_ONLY, default=to_value(field))
            for field in fields]


def described(fields: Sequence[Field]) -> str:
    """The fields as lines of a docstring."""
    lines = []
    for field in fields:
        choices = f" ({', '.join(field['choices'])})" if field["choices"] else ""
        lines.append(f"    {to_keyword(field['name'])} = {to_value(field)!r}: {field['doc']}{choices}")
    return "\n".join(lines)


ACRONYMS = {"ts": "TS", "ucb": "UCB", "ucb1": "UCB1", "csv": "CSV"}


def class_name(name: str) -> str:
    """
    >>> class_name("pi-ts"), class_name("neural-linear"), class_name("sparse_linear"), class_name("lin-ucb")
    ('PiTS', 'NeuralLinear', 'SparseLinear', 'LinUCB')
    """
    return "".join(ACRONYMS.get(part, part.capitalize()) for part in re.split("[-_]", name))


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """A call that makes the thing again, in lines of at most 100 characters."""
    words = [f"{key}={value!r}" for key, value in arguments.items()]
    lines, line = [], f"{name}("
    indent = " " * len(line)
    for i, word in enumerate(words):
        word += ")" if i + 1 == len(words) else ","
        if line.strip() and len(line) + 1 + len(word) > 100:
            lines.append(line)
            line = indent + word
        else:
            line += word if line.endswith("(") else " " + word
    return "\n".join(lines + [line])
