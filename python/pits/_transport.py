"""HTTP to a service: a connection per thread, tries that are repeated."""
from __future__ import annotations

import http.client
import json
import os
import random
import ssl
import threading
import time
import urllib.parse
import weakref
from typing import Any, Mapping, Optional, Union, cast

from . import _fields, _pits
from .schema import json_text, utf8_text

REFUSED = (429, 503)  # for now


class ServiceError(_pits.Error):
    """The service refused a request or could not be reached. status is that of HTTP; 0: there was no answer.

    answered: what decide_many or reward_many got for the first ones of its list, before a later request failed. keys: those of
    the rewards that the call gave; the same call with keys=error.keys counts none of them twice.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.answered: list[Any] = []
        self.keys: list[str] = []


class Transport:
    """Requests and answers in JSON. `Client` explains the arguments."""

    def __init__(self, url: str, key: str, timeout: float, retries: int, patience: float,
                 context: Optional[ssl.SSLContext]) -> None:
        parts = urllib.parse.urlsplit(_fields.text("url", url))
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise _pits.InputError(f"a service is named as http://HOST:PORT or https://HOST:PORT, not {url!r:.100}")
        self._tls = (context or ssl.create_default_context()) if parts.scheme == "https" else None
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        self._headers = {"Content-Type": "application/json"}
        if utf8_text("key", key):
            self._headers["Authorization"] = f"Bearer {key}"
        self._timeout, self._retries, self._patience = timeout, retries, patience
        self._local = threading.local()
        self._open: weakref.WeakSet[http.client.HTTPConnection] = weakref.WeakSet()  # those of ended threads are gone
        self._mutex = threading.Lock()  # of _open

    def ask(self, method: str, path: str, body: Union[Mapping[str, Any], bytes, None] = None,
            repeat: bool = True) -> tuple[int, Any]:
        """The status and the answer, None if it is no JSON. body: what is to be sent, or its JSON. repeat: a try without an answer may be repeated; what the service
        has refused always may."""
        data = body if body is None or isinstance(body, bytes) else json_text("the request", body).encode()
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                status, wait, text = self._try(method, path, data, fresh=not repeat)
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                if last or not repeat:
                    raise ServiceError(0, f"no answer from {self._host}: {error or type(error).__name__}") from error
                self._sleep(_backoff(attempt))
                continue
            if status not in REFUSED or last or (wait is not None and wait > self._patience):
                break
            self._sleep(_backoff(attempt) if wait is None else wait)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, None

    def close(self) -> None:
        with self._mutex:
            for connection in list(self._open):
                connection.close()
            self._open.clear()
        self._local = threading.local()

    def _try(self, method: str, path: str, data: Optional[bytes], fresh: bool) -> tuple[int, Optional[float], bytes]:
        if fresh:  # one that the service has closed meanwhile would look like a lost answer
            self._drop()
        connection = self._connection()
        connection.request(method, self._path + path, data, self._headers)
        reply = connection.getresponse()
        text = reply.read()
        wait = reply.getheader("Retry-After", "")
        return reply.status, float(wait) if wait.isdecimal() else None, text

    def _connection(self) -> http.client.HTTPConnection:
        """That of this thread and process."""
        if getattr(self._local, "pid", None) == os.getpid():
            return cast(http.client.HTTPConnection, self._local.connection)
        connection = (http.client.HTTPConnection(self._host, self._port, timeout=self._timeout) if self._tls is None else
                      http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._tls))
        self._local.connection, self._local.pid = connection, os.getpid()
        with self._mutex:
            self._open.add(connection)
        return connection

    def _drop(self) -> None:
        if getattr(self._local, "pid", None) == os.getpid():
            self._local.connection.close()
            with self._mutex:
                self._open.discard(self._local.connection)
        self._local.pid = None

    @staticmethod
    def _sleep(seconds: float) -> None:
        time.sleep(seconds)


def _backoff(attempt: int) -> float:
    return float(0.1 * 2**attempt * random.uniform(0.5, 1.0))
