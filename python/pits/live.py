"""A bandit in a service: every decision and reward is in a log, and survives a crash."""
from __future__ import annotations

import atexit
import json
import os
import weakref
from types import TracebackType
from typing import Any, Iterable, Literal, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union

from numpy.typing import ArrayLike

from . import _fields, _pits
from .schema import Context, Definition, context_text, context_texts, definition_text, is_named, utf8_text

Answer = Literal["accepted", "duplicate", "expired", "unknown", "full"]
Self = TypeVar("Self", bound="LiveBandit")
FIELDS = {field["name"] for field in _pits.live_fields()}


class LiveDecision(NamedTuple):
    action: Union[str, int]  # its name; of candidates, the place in the list
    propensity: float
    id: int  # for the reward
    propensity_error: float = 0.0  # standard error; 0: exact


class LiveStatus(NamedTuple):
    committed: int  # events in the log
    learned: int  # of them
    queued: int  # decisions that are not in the log yet
    refused: int  # outcomes that the agent refused since the start
    trainings: int  # adopted since the start
    training: bool  # one is under way
    problem: str  # the last failure; empty: none


class LiveBandit:
    """A bandit that decides on any thread, takes rewards that come late, twice or never, and writes all of it to a log.

    LiveBandit(directory) opens a log. With actions (their names) or candidates=True it creates one where there is none;
    where there is one, what is given must be what the log says, except for settings that may change: window, rewards,
    default_reward, activation, most_rewards, retention, event_retention and reward_range are then changed, and the
    change is recorded. A log has either a schema of named contexts (a dict or JSON text) or n_features, the size of
    vectors. More keywords set fields of the agent (`pits list agents NAME`) or of the log: floor, propensity_draws,
    rewards, window, default_reward, activation, most_rewards, retention, event_retention, training, reward_range ("0,1").

    >>> import tempfile
    >>> schema = {"features": [{"name": "age", "kind": "number", "missing": "level"},
    ...                        {"name": "country", "kind": "category", "levels": ["de", "fr"], "unknown": "level"}]}
    >>> live = LiveBandit(tempfile.mkdtemp(), actions=["tea", "milk"], schema=schema, seed=7, window=3600)
    >>> decision = live.decide({"age": 31, "country": "de"})
    >>> decision.action in ("tea", "milk"), 0 < decision.propensity <= 1
    (True, True)
    >>> live.reward(decision, 1.0, key="click-1"), live.reward(decision, 1.0, key="click-1"), live.reward(99, 1.0)
    ('accepted', 'duplicate', 'unknown')
    >>> live.columns
    ['age', 'age is missing', 'country=de', 'country=fr', 'country is unknown']
    >>> live.close()
    """

    def __init__(self, directory: Union[str, os.PathLike[str]], agent: str = "pi-ts", *,
                 actions: Optional[Iterable[str]] = None, schema: Optional[Definition] = None,
                 n_features: Optional[int] = None, candidates: bool = False, seed: Optional[int] = None,
                 **settings: Any) -> None:
        if actions is None and not _fields.flag("candidates", candidates):
            given = {"schema": schema, "n_features": n_features, "seed": seed, **settings}
            if agent != "pi-ts" or any(value is not None for value in given.values()):
                raise _pits.InputError("a log is created with its actions, or with candidates=True; "
                                       "LiveBandit(directory) opens one as it is")
            self._live = _pits.LiveBandit(directory)
        else:
            self._live = self._made(directory, agent, actions, schema, n_features, candidates, seed, settings)
        _open_bandits.add(self)

    @staticmethod
    def _made(directory: Union[str, os.PathLike[str]], agent: str, actions: Optional[Iterable[str]],
              schema: Optional[Definition], n_features: Optional[int], candidates: bool,
              seed: Optional[int], settings: dict[str, Any]) -> _pits.LiveBandit:
        names = [] if actions is None else _names("actions", actions)
        if candidates and names:
            raise _pits.InputError("a log has either actions or candidates")
        if not candidates and not names:
            raise _pits.InputError("actions needs at least one name")
        if (schema is None) == (n_features is None):
            raise _pits.InputError("give either a schema of named contexts or n_features, the size of vectors")
        text = "" if schema is None else definition_text(schema)
        config = {name: settings.pop(name) for name in FIELDS if name in settings}
        return _pits.LiveBandit(
            directory, _fields.spec(_fields.text("agent", agent), None, settings), names, text,
            0 if n_features is None else _pits.whole_number(n_features, "n_features", 1, _fields.UINT32),
            None if seed is None else _pits.whole_number(seed, "seed", 0, _fields.UINT64), _fields.to_texts(config))

    def decide(self, context: Context, *, key: str = "", allowed: Optional[Iterable[str]] = None,
               candidates: Optional[ArrayLike] = None) -> LiveDecision:
        """The action for a context: a dict, JSON text or pandas row of named values, or a vector.

        A second decision with the same key is the first one. allowed has the names of actions that may be taken.
        candidates (n, f) has a row of features for each of the n things to choose from; action is then a row's number.
        """
        names = _allowed_names(allowed)
        key = utf8_text("key", key)
        if is_named(context, bool(self._live._schema())):
            made = self._live._decide_named(context_text(context), key, names, candidates)
        else:
            made = self._live._decide_vector(context, key, names, candidates)  # type: ignore[arg-type]
        return LiveDecision._make(made)

    def decide_many(self, contexts: Any, *, keys: Optional[Iterable[str]] = None,
                    allowed: Optional[Iterable[str]] = None) -> list[LiveDecision]:
        """A decision for every row of a DataFrame, or for every dict of a list. No row is decided if one does not fit.

        With keys each decision waits until it is durable. pandas.DataFrame(decisions) has a column for each field.
        """
        texts = context_texts(contexts)
        given = [] if keys is None else _names("keys", keys)
        names = _allowed_names(allowed)
        if keys is not None and len(given) != len(texts):
            raise _pits.InputError(f"{len(texts)} contexts need as many keys, not {len(given)}")
        return [LiveDecision._make(made) for made in self._live._decide_many(texts, given, names)]

    def reward(self, decision: Union[LiveDecision, int], value: float, *, key: str = "") -> Answer:
        """The reward of a decision; returns when the answer is durable. The same key again is a retry, which is harmless."""
        return self._live._reward(_id(decision), value, utf8_text("key", key))  # type: ignore[return-value]

    def rewards(self, decisions: Sequence[Union[LiveDecision, int]], values: ArrayLike, *,
                keys: Optional[Iterable[str]] = None) -> list[Answer]:
        """Many rewards, durable together; an answer for each."""
        ids = [_id(decision) for decision in decisions]
        return self._live._rewards(ids, values, [] if keys is None else _names("keys", keys))  # type: ignore[return-value]

    def activate(self, decision: Union[LiveDecision, int]) -> Answer:
        """What was decided has been shown (activation=True)."""
        return self._live._activate(_id(decision))  # type: ignore[return-value]

    def cancel(self, decision: Union[LiveDecision, int]) -> Answer:
        """What was decided was never shown: nothing is learned of it."""
        return self._live._cancel(_id(decision))  # type: ignore[return-value]

    def find(self, key: str) -> Optional[int]:
        """The id of the decision with that key, or None."""
        return self._live._find(utf8_text("key", key))

    def add_actions(self, *names: str) -> None:
        """New actions start from the prior."""
        self._live._add_actions(_names("names", names))

    def retire(self, name: str) -> None:
        """No later decision takes this action; its rewards are still learned."""
        self._live._retire(utf8_text("name", name))

    def change(self, **settings: Any) -> None:
        """Changes window, rewards, default_reward, activation, most_rewards, retention, event_retention or reward_range,
        from now on."""
        self._live._change(_fields.to_texts(settings))

    def flush(self) -> None:
        """Returns when every decision that was made before is durable."""
        self._live._flush()

    def catch_up(self) -> None:
        """Returns when every event that was durable before is learned."""
        self._live._catch_up()

    def close(self) -> None:
        """Writes what waits. Calls that other threads are in are finished; later ones raise FailedError."""
        self._live._close()

    @property
    def closed(self) -> bool:
        return self._live._closed()

    @property
    def status(self) -> LiveStatus:
        return LiveStatus(**self._live._status())

    @property
    def actions(self) -> list[str]:
        """Names, of retired ones too; none: candidates come with each decision."""
        return self._live._actions()

    @property
    def schema(self) -> Optional[dict[str, Any]]:
        """Of named contexts, with every field."""
        text = self._live._schema()
        return json.loads(text) if text else None

    @property
    def columns(self) -> list[str]:
        """The names of the numbers that a named context becomes."""
        return self._live._columns()

    @property
    def n_features(self) -> int:
        return self._live._n_features()

    @property
    def agent(self) -> str:
        """Its spec with every field."""
        return self._live._agent()

    @property
    def seed(self) -> int:
        return self._live._seed()

    @property
    def config(self) -> dict[str, Any]:
        """floor, rewards, window, ..."""
        return _fields.values(self._live._config())

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def _id(decision: Union[LiveDecision, int]) -> int:
    return decision.id if isinstance(decision, LiveDecision) else _pits.whole_number(decision, "id", 0, _fields.UINT64)


def _names(what: str, given: Iterable[str]) -> list[str]:
    if isinstance(given, str):
        raise _pits.InputError(f"{what} must be a list of names, not the text {given!r:.100}")
    return [utf8_text(f"each of {what}", name) for name in given]


def _allowed_names(allowed: Optional[Iterable[str]]) -> list[str]:
    names = [] if allowed is None else _names("allowed", allowed)
    if allowed is not None and not names:
        raise _pits.InputError("allowed needs at least one name")
    return names


# What is still open when Python ends is closed while its threads can still be waited for.
_open_bandits: weakref.WeakSet[LiveBandit] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for live in list(_open_bandits):
        live._live._close_at_exit()
