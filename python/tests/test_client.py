"""pits.Client against a service in this process that loses answers, refuses and closes connections when it is told to."""
import os
import pathlib
import re
import subprocess
import threading

import numpy as np
import pandas as pd
import pytest
from fake_service import FakeService

import pits

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


@pytest.fixture
def service():
    with FakeService.running() as running:
        yield running


@pytest.fixture
def client(service):
    with pits.Client(service.url) as made:
        made.waited = []
        made._transport._sleep = made.waited.append
        made.put("shop", actions=["tea", "milk", "cake"], n_features=2, window=60)
        yield made


def test_every_call(service, client):
    assert service.bandits["shop"]["context_size"] == 2 and service.bandits["shop"]["window"] == 60
    assert [b["name"] for b in client.bandits()] == ["shop"]
    decision = client.decide("shop", [0.5, 1])
    assert decision == ("tea", 0.5, 0, 0.0, 3, "t0", ())
    assert client.decide("shop", np.zeros(2, dtype=np.float32), allowed=["cake"]).action == "cake"
    ranked = client.rank("shop", {"age": 31, "seen": pd.Timestamp("2026-11-17", tz="UTC"), "height": np.float32("nan")})
    assert ranked.ranking == (("tea", 1 / 3), ("milk", 1 / 3), ("cake", 1 / 3))
    assert service.requests[-1][2]["context"] == {"age": 31, "seen": "2026-11-17T00:00:00+00:00", "height": None}
    assert client.reward("shop", decision, 1.0) == "accepted" and client.reward("shop", 99, np.float32(0.5)) == "unknown"
    assert client.cancel("shop", ranked) == "accepted" and client.activate("shop", 99) == "unknown"
    client.add_actions("shop", "wine", "beer")
    client.retire("shop", "tea")
    assert service.requests[-1][2] == {"retire": ["tea"]}
    assert client.state("shop")["actions"][-2:] == ["wine", "beer"]
    client.decide("shop", [0, 0], candidates=np.ones((2, 3)))
    assert service.requests[-1][2]["features"] == [[1.0] * 3] * 2


def test_many_go_in_parts_of_a_thousand(service, client):
    frame = pd.DataFrame({"age": [20.0, None] * 1100})
    decisions = client.decide_many("shop", frame, keys=[f"v{i}" for i in range(2200)])
    assert [d.id for d in decisions] == list(range(2200))
    assert [len(r[2]["decisions"]) for r in service.requests[1:]] == [1000, 1000, 200]
    assert service.requests[1][2]["decisions"][1] == {"context": {"age": None}, "key": "v1"}
    assert client.reward_many("shop", decisions, np.ones(2200)) == ["accepted"] * 2200
    assert client.reward_many("shop", ["v5", 7, decisions[9], 9999], [1, 0, 1, 1], keys=list("abcd"))[3] == "unknown"


def test_many_go_in_parts_of_a_megabyte(service, client):
    contexts = [{"page": str(i) + "é" * (17 * i)} for i in range(400)]  # 2.7 MB
    decisions = client.decide_many("shop", contexts)
    assert [d.id for d in decisions] == list(range(400))
    assert [one["context"] for r in service.requests[1:] for one in r[2]["decisions"]] == contexts
    sizes = service.sizes[1:]
    assert len(sizes) == 3 and max(sizes) <= 1 << 20
    largest = 2 * 17 * 400 + 100
    assert all(size + largest > 1 << 20 for size in sizes[:-1])  # no smaller than they must be
    exact = len('{"decisions": [{"context": {"page": ""}}]}')
    client.decide_many("shop", [{"page": "x" * ((1 << 20) - exact)}] * 2)
    assert service.sizes[-2:] == [1 << 20] * 2
    with pytest.raises(pits.ServiceError) as caught:
        client.decide_many("shop", [{"page": "a"}, {"page": "x" * (1 << 20)}])
    assert caught.value.status == 413 and [d.action for d in caught.value.answered] == ["tea"]


@pytest.mark.parametrize("failure", [503, "lost", "gone"])
def test_many_rewards_that_fail_in_the_middle_count_once_when_they_are_repeated(service, client, failure):
    decisions = client.decide_many("shop", np.zeros((2200, 2)))
    service.failures = [None] + [failure] * 4
    with pytest.raises(pits.ServiceError) as caught:
        client.reward_many("shop", decisions, np.ones(2200))
    error = caught.value
    assert error.answered == ["accepted"] * 1000 and len(set(error.keys)) == 2200
    answers = client.reward_many("shop", decisions, np.ones(2200), keys=error.keys)
    known = 2000 if failure == "lost" else 1000
    assert answers == ["duplicate"] * known + ["accepted"] * (2200 - known)
    assert all(list(service.rewards[d.id].values()) == [1.0] for d in decisions)


def test_many_decisions_that_fail_in_the_middle_are_not_lost(service, client):
    service.failures = [None, None] + [503] * 4
    with pytest.raises(pits.ServiceError) as caught:
        client.decide_many("shop", np.zeros((2200, 2)))
    assert [d.id for d in caught.value.answered] == list(range(2000)) and caught.value.keys == []
    rest = client.decide_many("shop", np.zeros((2200, 2))[len(caught.value.answered):])
    assert [d.id for d in rest] == list(range(2000, 2200))


def test_a_reward_that_fails_says_its_key_and_two_calls_are_two_rewards(service, client):
    decision = client.decide("shop", [0, 0])
    service.failures = ["lost"] * 4
    with pytest.raises(pits.ServiceError) as caught:
        client.reward("shop", decision, 1.0)
    assert client.reward("shop", decision, 1.0, key=caught.value.keys[0]) == "duplicate"
    assert [client.reward("shop", decision, 1.0) for _ in range(2)] == ["accepted"] * 2
    assert len(service.rewards[decision.id]) == 3


@pytest.mark.parametrize("failure", [429, 503, "lost", "gone"])
def test_a_reward_that_is_repeated_counts_once(service, client, failure):
    decision = client.decide("shop", [0, 0])
    service.failures = [failure, failure]
    assert client.reward("shop", decision, 1.0) == ("duplicate" if failure == "lost" else "accepted")
    assert list(service.rewards[decision.id].values()) == [1.0]
    assert len({r[2]["key"] for r in service.requests if r[1].endswith("rewards")}) == 1
    assert len(client.waited) == 2 and 0.05 <= client.waited[0] <= 0.1 <= client.waited[1] <= 0.2


def test_a_decision_with_a_key_is_made_once(service, client):
    service.failures = ["lost"]
    assert client.decide("shop", [0, 0], key="visit").id == 0 and len(service.decisions) == 1
    service.failures = ["lost"]  # without one, a decision that nobody uses is left
    assert client.decide("shop", [0, 0]).id == 2 and len(service.decisions) == 3
    careful = pits.Client(service.url, retry_decide=False)
    service.failures = ["lost"]
    with pytest.raises(pits.ServiceError, match="no answer from 127.0.0.1") as caught:
        careful.decide("shop", [0, 0])
    assert caught.value.status == 0
    careful.close()


def test_retry_after_is_honoured_within_patience(service, client):
    service.failures, service.retry_after = [503], "7"
    client.decide("shop", [0, 0])
    assert client.waited == [7.0]
    service.failures, service.retry_after = [503], "3600"
    with pytest.raises(pits.ServiceError, match="failed with 503") as caught:
        client.decide("shop", [0, 0])
    assert caught.value.status == 503 and client.waited == [7.0]


def test_tries_end(service, client):
    service.failures = [503] * 4
    with pytest.raises(pits.ServiceError):
        client.reward("shop", 0, 1.0)
    assert len(client.waited) == 3 and not service.failures


def test_refusals_have_the_services_sentence(service, client):
    with pytest.raises(pits.ServiceError, match="there is no bandit 'news'") as caught:
        client.decide("news", [0, 0])
    assert caught.value.status == 404 and isinstance(caught.value, pits.Error) and client.waited == []
    service.failures = ["lost"]
    with pytest.raises(pits.ServiceError, match="no answer"):  # it may have been done
        client.add_actions("shop", "wine")
    service.failures = [429]
    client.add_actions("shop", "beer")
    assert service.bandits["shop"]["actions"][-2:] == ["wine", "beer"]


def test_nothing_is_sent_that_does_not_fit(service, client):
    sent = len(service.requests)
    for call in [lambda: client.reward("shop", 0, float("nan")), lambda: client.reward("shop", 0, 1, key=3),
                 lambda: client.decide("shop", [float("inf")]),
                 lambda: client.decide("shop", "{"), lambda: client.decide("shop", [0], allowed=[]),
                 lambda: client.reward("shop", -1, 1.0), lambda: client.reward_many("shop", [1, 2], [1.0]),
                 lambda: client.decide_many("shop", [[0]], keys=["a", "b"]), lambda: pits.Client("127.0.0.1:8080")]:
        with pytest.raises(pits.InputError):
            call()
    assert len(service.requests) == sent


def test_a_connection_per_thread_is_kept(service, client):
    def work():
        for _ in range(20):
            client.reward("shop", client.decide("shop", [0, 0]), 1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(service.peers) == 5 and len(service.decisions) == 80 == len(service.rewards)
    client.close()
    client.decide("shop", [0, 0])
    assert len(service.peers) == 6


def test_the_key_goes_with_every_request(service):
    with pits.Client(service.url + "/", key="secret") as client:
        client.bandits()
    assert service.requests[0][1] == "/v1/bandits" and service.requests[0][3]["Authorization"] == "Bearer secret"


def test_no_service_is_an_error_of_one_line():
    with FakeService.running() as service:
        url = service.url
    client = pits.Client(url, retries=0)
    with pytest.raises(pits.ServiceError, match="no answer from 127.0.0.1: .*refused"):
        client.bandits()


def run_block(url):
    block = re.search(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)[1]
    scope = {}
    exec(compile(block.replace("http://127.0.0.1:8080", url), str(PAGE), "exec"), scope)
    return scope


def test_the_block_in_the_documentation_runs(service):
    run_block(service.url)
    assert len(service.decisions) == 4


@pytest.fixture
def real(tmp_path):
    """The URL of `pits serve`."""
    process = subprocess.Popen([os.environ["PITS_PROGRAM"], "serve", "--store", tmp_path / "store", "--listen", "127.0.0.1:0"],
                               stderr=subprocess.PIPE, text=True)
    yield re.search(r"http://\S+", process.stderr.readline())[0]
    process.terminate()
    process.stderr.close()
    assert process.wait(60) == 0


@pytest.mark.skipif(not os.environ.get("PITS_PROGRAM"), reason="PITS_PROGRAM does not name the program")
def test_with_the_service_itself(real):
    scope = run_block(real)
    decision, answer = scope["decision"], scope["answer"]
    assert decision.action in ("tea", "milk", "cake") and 0 < decision.propensity <= 1 and decision.token and answer == "accepted"
    with pits.Client(real) as client:
        assert [client.reward("shop", decision, 1.0, key="click") for _ in range(2)] == ["accepted", "duplicate"]
        assert client.reward("shop", 10**15, 1.0) == "unknown"
        assert client.decide("shop", {"age": 1}, key="visit-8") == client.decide("shop", {"age": 1}, key="visit-8")
        assert client.cancel("shop", "visit-8") == "accepted" and client.reward("shop", "visit-8", 1.0) == "expired"
        ranked = client.rank("shop", {"age": None}, allowed=["tea", "wine"])
        assert ranked.ranking[0] == (ranked.action, ranked.propensity)
        assert abs(sum(p for _, p in ranked.ranking) - 1) < 1e-5 and {a for a, _ in ranked.ranking} == {"tea", "wine"}
        assert [b["name"] for b in client.bandits()] == ["shop"] and client.state("shop")["problem"] == ""
        with pytest.raises(pits.ServiceError, match="'age'") as caught:
            client.decide("shop", {"age": "old"})
        assert caught.value.status == 400
        client.put("news", agent="feature-ts,action_features=2", n_features=3)
        assert client.decide("news", np.zeros(3), candidates=np.ones((5, 2))).action in range(5)
