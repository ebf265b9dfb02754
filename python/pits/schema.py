"""Named contexts: dicts, JSON text and rows of pandas, and the schema that turns them into numbers."""
from __future__ import annotations

import json
from typing import Any, Iterable, Mapping, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _fields, _pits

Context = Union[Mapping[str, Any], str, ArrayLike]  # named values, their JSON text, a pandas row, or a vector


class Schema(_pits.Schema):
    """What a context may hold, and how it becomes numbers: a dict or JSON text as docs/guide.md describes it.

    Bandits in memory take numbers; with a schema they take rows of a table too. NaN, NaT, None and pandas.NA are missing values.

    >>> import pandas as pd, pits
    >>> schema = Schema({"features": [{"name": "age", "kind": "number", "missing": "level"},
    ...                               {"name": "shop", "kind": "category", "levels": ["3", "17"]}]})
    >>> schema.columns
    ['age', 'age is missing', 'shop=3', 'shop=17']
    >>> visits = pd.DataFrame({"age": [31, None], "shop": [17, 3]})
    >>> schema.encode(visits)
    array([[31.,  0.,  0.,  1.],
           [ 0.,  1.,  1.,  0.]], dtype=float32)
    >>> bandit = pits.agents.LinTS(n_actions=2, n_features=schema.n_features)
    >>> bandit.decide(schema.encode(visits.iloc[0])).action in (0, 1)
    True
    """

    def __init__(self, definition: Definition) -> None:
        super().__init__(definition_text(definition))

    def encode(self, contexts: Any) -> NDArray[np.float32]:
        """The numbers of one context, (d,); of the rows of a DataFrame or a list of contexts, (n, d)."""
        if hasattr(contexts, "columns") or isinstance(contexts, (list, tuple)) and not hasattr(contexts, "_asdict"):
            return self._encode(context_texts(contexts))
        try:
            return self._encode([context_text(contexts)]).reshape(-1)
        except _pits.InputError as error:
            raise _pits.InputError(str(error).removeprefix("row 0: ")) from None

    @property
    def definition(self) -> dict[str, Any]:
        """With every field."""
        return dict(json.loads(self._text()))

    def __repr__(self) -> str:
        return f"Schema({self.definition!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._text() == other._text()

    def __hash__(self) -> int:
        return hash(self._text())

    def __reduce__(self) -> tuple[type[Schema], tuple[str]]:
        return Schema, (self._text(),)


Definition = Union[Mapping[str, Any], str, Schema]


def definition_text(definition: Definition) -> str:
    if isinstance(definition, Schema):
        return definition._text()
    return definition if isinstance(definition, str) else json_text("the schema", definition)


def is_named(context: Any, schema: bool) -> bool:
    """Whether a context has names; a row of pandas has them for a bandit with a schema, and is a vector for one without."""
    return isinstance(context, (str, Mapping)) or (schema and (hasattr(context, "to_dict") or hasattr(context, "_asdict")))


def named_values(context: Any) -> Any:
    """Of a row of pandas, a namedtuple of DataFrame.itertuples(index=False) or a dict, as JSON has them; else what was given."""
    if hasattr(context, "columns"):
        if len(context) != 1:
            raise _pits.InputError(f"a context is one row, not a frame of {len(context)}; decide_many takes frames")
        context = context.to_dict("records")[0]
    elif hasattr(context, "to_dict"):
        context = context.to_dict()
    elif hasattr(context, "_asdict"):
        context = context._asdict()
    return {name: plain(value) for name, value in context.items()} if isinstance(context, Mapping) else context


def context_text(context: Any) -> str:
    if isinstance(context, str):
        return utf8_text("JSON of the context", context)
    values = named_values(context)
    if not isinstance(values, Mapping):
        raise _pits.InputError(f"a named context is a dict or a row of pandas, not {context!r:.100}")
    return json_text("the context", values)


def rows_of(contexts: Any) -> list[Any]:
    """The rows of a DataFrame, or what a list has."""
    return list(contexts.to_dict("records") if hasattr(contexts, "columns") else contexts)


def context_texts(contexts: Iterable[Any]) -> list[str]:
    texts = []
    for i, row in enumerate(rows_of(contexts)):
        try:
            texts.append(context_text(row))
        except _pits.InputError as error:
            raise _pits.InputError(f"row {i}: {error}") from None
    return texts


def utf8_text(what: str, given: str) -> str:
    try:
        _fields.text(what, given).encode()
        return given
    except UnicodeEncodeError:
        raise _pits.InputError(f"{what} cannot be written as UTF-8: {given!r:.100}") from None


def plain(value: Any) -> Any:
    """A value as JSON has it: None where pandas and numpy have none, times as text with their offset.

    >>> import datetime
    >>> plain(np.float32(0.5)), plain(np.int64(3)), plain(float("nan")), plain(np.bool_(True))
    (0.5, 3, None, True)
    >>> plain(datetime.datetime(2026, 11, 17, 10, 18, tzinfo=datetime.timezone.utc))
    '2026-11-17T10:18:00+00:00'
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return plain(value.item()) if hasattr(value, "item") else value


def json_text(what: str, value: Any) -> str:
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
        return text
    except (TypeError, ValueError) as error:
        raise _pits.InputError(f"{what} cannot be written as JSON: {error}") from None
