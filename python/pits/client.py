"""A client of `pits serve`: decisions and rewards over HTTP, from any thread."""
from __future__ import annotations

import http.client
import json
import math
import ssl
import urllib.parse
import uuid
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union, cast

from . import _fields, _pits
from ._transport import ServiceError, Transport
from .live import Answer, _allowed_names, _names
from .schema import Context, Definition, definition_text, json_text, named_values, plain, rows_of, utf8_text

Self = TypeVar("Self", bound="Client")
T = TypeVar("T")
MOST_IN_BATCH, MOST_BYTES = 1000, 1 << 20  # of a request
ANSWERS = ("accepted", "duplicate", "expired", "unknown", "full")


class ServiceDecision(NamedTuple):
    action: Union[str, int]  # its name; of candidates, the place in the list
    propensity: float
    id: int
    propensity_error: float = 0.0  # standard error; 0: exact
    model: int = 0  # events that the model had learned
    token: str = ""  # goes with the reward, and brings the decision back if a crash lost its record
    ranking: tuple[tuple[Union[str, int], float], ...] = ()  # of rank: actions with probabilities, the decided one first


Which = Union[ServiceDecision, int, str]  # a decision, its id, or the caller's key of it


class Client:
    """A client of the service at a URL. Threads share it; each has one connection, which is kept open.

    key is the API key. timeout (seconds) bounds each try. A try that gets no answer, a 429 or a 503 is repeated up to retries
    times, after what Retry-After says or else after 0.1, 0.2, 0.4, ... seconds with jitter; patience (seconds) bounds a wait.

    - Rewards have a key, the caller's or one made per call, so that a repeated one counts once. Where the first try arrived and
      only its answer was lost, the answer of the second is "duplicate". Two calls for one decision are two rewards: whoever repeats
      a call that failed says keys=error.keys.
    - A decide without a key that is repeated may leave a decision that nobody uses, which settles to the default reward:
      retry_decide=False raises instead. With a key the second try is the same decision, and each waits for the disk.
    - add_actions is repeated only if the service has refused it.
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", *, key: str = "", timeout: float = 5.0, retries: int = 3,
                 patience: float = 10.0, retry_decide: bool = True, context: Optional[ssl.SSLContext] = None) -> None:
        self._transport = Transport(url, key, timeout, retries, patience, context)
        self._retry_decide = _fields.flag("retry_decide", retry_decide)

    # Bandits.

    def put(self, bandit: str, *, agent: str = "", actions: Optional[Iterable[str]] = None,
            schema: Optional[Definition] = None, n_features: Optional[int] = None,
            seed: Optional[int] = None, **settings: Any) -> dict[str, Any]:
        """Creates a bandit, or changes the settings that may change: floor, window, rewards, default_reward, ..."""
        body: dict[str, Any] = dict(settings)
        if agent:
            body["agent"] = utf8_text("agent", agent)
        if actions is not None:
            body["actions"] = _names("actions", actions)
        if schema is not None:
            body["schema"] = _parsed("the schema", definition_text(schema))
        body.update({k: v for k, v in {"context_size": n_features, "seed": seed}.items() if v is not None})
        return self._ask("PUT", _route(bandit), body)

    def bandits(self) -> list[dict[str, Any]]:
        """Every bandit of the service: its name, whether it is ready, and its problem."""
        return cast("list[dict[str, Any]]", self._ask("GET", "/v1/bandits")["bandits"])

    def state(self, bandit: str) -> dict[str, Any]:
        """Agent, actions, settings, and how many events, decisions and rewards there are."""
        return self._ask("GET", _route(bandit, "state"))

    def add_actions(self, bandit: str, *names: str) -> None:
        """New actions start from the prior."""
        self._ask("POST", _route(bandit, "actions"), {"add": _names("names", names)}, repeat=False)

    def retire(self, bandit: str, *names: str) -> None:
        """No later decision takes these actions; their rewards are still learned."""
        self._ask("POST", _route(bandit, "actions"), {"retire": _names("names", names)}, repeat=False)

    # Decisions.

    def decide(self, bandit: str, context: Context, *, key: Optional[str] = "", allowed: Optional[Iterable[str]] = None,
               candidates: Any = None) -> ServiceDecision:
        """The action for a context: a dict or pandas row of named values, their JSON text, or a vector.

        A second decision with the same key is the first one. allowed has the names of actions that may be taken; candidates has a
        row of features for each of the things to choose from.
        """
        body = _asked(context, key, allowed, candidates)
        return _decision(self._ask("POST", _route(bandit, "decide"), body, self._retry_decide or bool(key)))

    def rank(self, bandit: str, context: Context, *, key: Optional[str] = "", allowed: Optional[Iterable[str]] = None,
             candidates: Any = None) -> ServiceDecision:
        """As decide; its ranking has the other actions too, with the probability of each."""
        body = _asked(context, key, allowed, candidates)
        return _decision(self._ask("POST", _route(bandit, "rank"), body, self._retry_decide or bool(key)))

    def decide_many(self, bandit: str, contexts: Any, *, keys: Optional[Iterable[str]] = None,
                    allowed: Optional[Iterable[str]] = None) -> list[ServiceDecision]:
        """A decision for every row of a DataFrame, or for every context of a list; up to 1,000 and 1 MB per request.

        Where a request fails, the ServiceError has the decisions of those before it as `answered`.
        """
        rows = rows_of(contexts)
        given = [""] * len(rows) if keys is None else _names("keys", keys)
        if len(given) != len(rows):
            raise _pits.InputError(f"{len(rows)} contexts need as many keys, not {len(given)}")
        names = None if allowed is None else list(allowed)
        asked = [_asked(row, key, names, None) for row, key in zip(rows, given)]
        repeat = self._retry_decide or keys is not None
        return self._ask_all(_route(bandit, "decide"), "decisions", asked, "decisions", _decision, repeat)

    # Rewards.

    def reward(self, bandit: str, decision: Which, value: float, *, key: Optional[str] = "") -> Answer:
        """The reward of a decision; when this returns, the answer is on the service's disk."""
        body = _reward(decision, value, utf8_text("key", key or "") or uuid.uuid4().hex)
        try:
            return _answer(self._ask("POST", _route(bandit, "rewards"), body))
        except ServiceError as error:
            error.keys = [body["key"]]
            raise

    def reward_many(self, bandit: str, decisions: Sequence[Which], values: Iterable[float], *,
                    keys: Optional[Iterable[str]] = None) -> list[Answer]:
        """Many rewards, up to 1,000 and 1 MB per request; an answer for each.

        Where a request fails, the ServiceError has the answers of those before it as `answered`, and the keys of all as `keys`: the
        same call with keys=error.keys counts none twice.
        """
        numbers = list(values)
        given = [uuid.uuid4().hex for _ in decisions] if keys is None else _names("keys", keys)
        if not len(decisions) == len(numbers) == len(given):
            raise _pits.InputError(f"{len(decisions)} decisions need as many values and keys, not {len(numbers)} and {len(given)}")
        asked = [_reward(*one) for one in zip(decisions, numbers, given)]
        try:
            return self._ask_all(_route(bandit, "rewards"), "rewards", asked, "answers", lambda answer: cast(Answer, answer))
        except ServiceError as error:
            error.keys = given
            raise

    def cancel(self, bandit: str, decision: Which) -> Answer:
        """What was decided was never shown: nothing is learned of it."""
        return _answer(self._ask("POST", _route(bandit, "cancel"), _named(decision)))

    def activate(self, bandit: str, decision: Which) -> Answer:
        """What was decided has been shown (activation=True)."""
        return _answer(self._ask("POST", _route(bandit, "activate"), _named(decision)))

    def close(self) -> None:
        """Closes the connections of all threads. A later call opens a new one."""
        self._transport.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _ask_all(self, path: str, name: str, asked: list[dict[str, Any]], answers: str, read: Callable[[Any], T],
                 repeat: bool = True) -> list[T]:
        found: list[T] = []
        for part in list(_parts(name, asked)):  # all of them are JSON before the first is sent
            try:
                found += [read(one) for one in self._ask("POST", path, part, repeat)[answers]]
            except ServiceError as error:
                error.answered = found
                raise
        return found

    def _ask(self, method: str, path: str, body: Union[Mapping[str, Any], bytes, None] = None, repeat: bool = True) -> dict[str, Any]:
        status, found = self._transport.ask(method, path, body, repeat)
        if isinstance(found, dict) and (200 <= status < 300 or found.get("answer") in ANSWERS):
            return found
        said = found.get("error") if isinstance(found, dict) else None
        reason = http.client.responses.get(status, "")
        raise ServiceError(status, said if isinstance(said, str) else f"the service answered {status} {reason}".rstrip())


def _route(bandit: str, verb: str = "") -> str:
    return f"/v1/bandits/{urllib.parse.quote(utf8_text('bandit', bandit), safe='')}" + (f"/{verb}" if verb else "")


def _parts(name: str, asked: list[dict[str, Any]]) -> Iterator[bytes]:
    """{"name": [...]} of as many as fit into a request; one that is too large alone is left to the service to refuse.

    >>> list(_parts("rewards", [{"id": 1}, {"id": 2}]))
    [b'{"rewards": [{"id": 1}, {"id": 2}]}']
    """
    head, end = f'{{"{name}": ['.encode(), b"]}"
    part: list[bytes] = []
    size = empty = len(head) + len(end)
    for one in asked:
        text = json_text("the request", one).encode()
        if part and (len(part) == MOST_IN_BATCH or size + len(text) > MOST_BYTES):
            yield head + b", ".join(part) + end
            part, size = [], empty
        part.append(text)
        size += len(text) + 2
    if part:
        yield head + b", ".join(part) + end


def _vector(values: Any) -> Any:
    """Lists of numbers as JSON has them, of any depth.

    >>> import numpy as np
    >>> _vector(np.array([[1, 2.5]], dtype=np.float32)), _vector((1, np.int64(2)))
    ([[1.0, 2.5]], [1, 2])
    """
    if hasattr(values, "tolist"):
        values = values.tolist()
    return [_vector(value) for value in values] if isinstance(values, (list, tuple)) else plain(values)


def _parsed(what: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _pits.InputError(f"{what} is not JSON: {error}") from None


def _asked(context: Any, key: Optional[str], allowed: Optional[Iterable[str]], candidates: Any) -> dict[str, Any]:
    given = _parsed("the context", context) if isinstance(context, str) else context
    values = named_values(given)
    body: dict[str, Any] = {"context": values if isinstance(values, Mapping) else _vector(values)}
    if utf8_text("key", key or ""):
        body["key"] = key
    if allowed is not None:
        body["allowed"] = _allowed_names(allowed)
    if candidates is not None:
        body["features"] = _vector(candidates)
    return body


def _decision(made: Mapping[str, Any]) -> ServiceDecision:
    ranking = tuple((one["action"], one["probability"]) for one in made.get("ranking", ()))
    return ServiceDecision(made["action"], made["propensity"], made["id"], made.get("propensity_error", 0.0),
                           made.get("model", 0), made.get("token", ""), ranking)


def _named(decision: Which) -> dict[str, Any]:
    if isinstance(decision, str):
        return {"decision": utf8_text("decision", decision)}
    if isinstance(decision, ServiceDecision):
        return {"id": decision.id, **({"token": decision.token} if decision.token else {})}
    return {"id": _pits.whole_number(decision, "id", 0, _fields.UINT64)}


def _reward(decision: Which, value: Any, key: str) -> dict[str, Any]:
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
        raise _pits.InputError(f"the value of a reward must be a finite number, not {value!r:.100}")
    return {**_named(decision), "value": number, "key": key}


def _answer(found: Mapping[str, Any]) -> Answer:
    return cast(Answer, found["answer"])
