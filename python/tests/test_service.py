"""The HTTP API of `pits serve`, as its callers meet it."""
import pytest
from openapi import as_json_schema
from service import PLAIN, SHOP, VISITOR

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed (Debian: python3-jsonschema)")


def validate(document, name, value):
    schema = {"$ref": f"#/components/schemas/{name}", "components": as_json_schema(document["components"])}
    jsonschema.validate(value, schema)


def test_every_route_of_the_openapi_document_answers_as_it_says(service):
    document = service.ok("GET", "/openapi.json")
    decided = service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    bodies = {
        "Decide": VISITOR,
        "Rewards": {"id": decided["id"], "value": 1, "token": decided["token"]},
        "Decision": {"token": service.ok("POST", "/v1/bandits/shop/decide", VISITOR)["token"]},
        "Bandit": SHOP,
        "Actions": {"add": ["bread"], "retire": ["soup"]},
    }
    asked = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = None
            if "requestBody" in operation:
                name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].split("/")[-1]
                validate(document, name, bodies[name])
                body = bodies[name]
            status, reply, _ = service.call(method.upper(), path.replace("{name}", "shop"), body)
            refused = operation["summary"].startswith("What was decided has been shown")  # cancelled before
            assert status == (410 if refused else 200), (path, status, reply)
            content = operation["responses"]["200"].get("content")
            if content:
                validate(document, content["application/json"]["schema"]["$ref"].split("/")[-1], reply)
            asked += 1
            other = "DELETE" if method != "delete" else "GET"
            status, reply, headers = service.call(other, path.replace("{name}", "shop"))
            assert status == 405 and method.upper() in headers["Allow"]
            validate(document, "Error", reply)
    assert asked == 16


def test_unknown_paths_and_names_are_not_found(service):
    for path in ["/v1", "/v1/bandits/shop/decide/", "/v1/bandits/../shop/decide", "/index.html"]:
        assert service.call("POST", path, {})[0] == 404
    status, reply, _ = service.call("POST", "/v1/bandits/none/decide", VISITOR)
    assert status == 404 and "PUT" in reply["error"]
    for name in ["..", ".hidden", "a%2Fb", "x" * 65, "a b"]:
        assert service.call("PUT", "/v1/bandits/" + name.replace(" ", "%20"), SHOP)[0] in (400, 404)


def test_one_and_many_decisions_and_rewards(service):
    one = service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    assert one["action"] in SHOP["actions"] and 0 < one["propensity"] <= 1
    many = service.ok("POST", "/v1/bandits/shop/decide", {"decisions": [VISITOR] * 10})["decisions"]
    ids = [one["id"]] + [decided["id"] for decided in many]
    assert len(set(ids)) == 11 and ids == sorted(ids)
    rewards = {"rewards": [{"id": i, "value": 1, "key": f"r{i}"} for i in ids] * 2 + [{"id": 1, "value": 1}]}
    answers = service.ok("POST", "/v1/bandits/shop/rewards", rewards)["answers"]
    assert answers == ["accepted"] * 11 + ["duplicate"] * 11 + ["unknown"]
    state = service.ok("GET", "/v1/bandits/shop/state")
    assert (state["decisions"], state["rewards"], state["settled"]) == (11, 11, 11)


def test_a_ranking_starts_with_the_decision(service):
    ranked = service.ok("POST", "/v1/bandits/shop/rank", VISITOR)
    names = [member["action"] for member in ranked["ranking"]]
    assert names[0] == ranked["action"] and sorted(names) == sorted(SHOP["actions"])
    assert sum(member["probability"] for member in ranked["ranking"]) == pytest.approx(1, abs=1e-5)
    assert ranked["ranking"][0]["probability"] == ranked["propensity"]
    body = {**VISITOR, "key": "visit-9", "allowed": ["tea", "soup"]}
    first, again = (service.ok("POST", "/v1/bandits/shop/rank", body) for _ in range(2))
    assert again["id"] == first["id"] and again["ranking"][0] == first["ranking"][0]
    assert {member["action"] for member in again["ranking"]} == {"tea", "soup"}
    allowed = service.ok("POST", "/v1/bandits/shop/rank", {**VISITOR, "allowed": ["milk", "soup"]})
    assert sorted(member["action"] for member in allowed["ranking"]) == ["milk", "soup"]


def test_answers_of_single_rewards_have_statuses(service):
    decided = service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    path = "/v1/bandits/shop/rewards"
    assert service.call("POST", path, {"id": decided["id"], "value": 1})[:2] == (200, {"answer": "accepted"})
    assert service.call("POST", path, {"id": decided["id"], "value": 1})[:2] == (200, {"answer": "duplicate"})
    status, reply, _ = service.call("POST", path, {"id": 1, "value": 1})
    assert status == 404 and reply["answer"] == "unknown"
    other = service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    assert service.ok("POST", "/v1/bandits/shop/cancel", {"id": other["id"]}) == {"answer": "accepted"}
    status, reply, _ = service.call("POST", path, {"id": other["id"], "value": 1})
    assert status == 410 and reply["answer"] == "expired"
    status, reply, _ = service.call("POST", path, {"id": other["id"], "token": decided["token"], "value": 1})
    assert status == 400 and "another decision" in reply["error"]


def test_a_repeated_key_is_the_same_decision(service):
    body = {**VISITOR, "key": "visit-1"}
    first = service.ok("POST", "/v1/bandits/shop/decide", body)
    assert "token" not in first
    assert service.ok("POST", "/v1/bandits/shop/decide", body) == first
    reward = {"decision": "visit-1", "value": 1}
    assert service.ok("POST", "/v1/bandits/shop/rewards", reward) == {"answer": "accepted"}
    status, reply, _ = service.call("POST", "/v1/bandits/shop/rewards", {"decision": "visit-2", "value": 1})
    assert status == 404 and reply["answer"] == "unknown"
    many = {"rewards": [{"decision": "visit-2", "value": 1}, {"decision": "visit-1", "value": 1}]}
    assert service.ok("POST", "/v1/bandits/shop/rewards", many) == {"answers": ["unknown", "duplicate"]}


@pytest.mark.parametrize(
    "body, words",
    [
        (b"", "not JSON"),
        (b"[]", "object"),
        (b'{"context": {"age": 1}', "not JSON"),
        (b'{"context": {"agee": 1, "country": "de"}}', "did you mean 'age'"),
        (b'{"context": {"age": "old", "country": "de"}}', "'age'"),
        (b'{"context": {"age": 1, "country": "de"}, "allowed": ["te"]}', "did you mean 'tea'"),
        (b'{"context": {"age": 1, "country": "de"}, "keys": "x"}', "did you mean 'key'"),
        (b'{"context": ' + b"[" * 2000 + b"]" * 2000 + b"}", "not JSON"),
        (b'{"context": {"age": 1, "country": "\xff"}}', "not JSON"),
    ],
)
def test_a_bad_decide_is_a_400_that_names_it_and_leaves_nothing(service, body, words):
    status, reply, _ = service.call("POST", "/v1/bandits/shop/decide", body)
    assert status == 400 and words in reply["error"]
    assert service.ok("GET", "/v1/bandits/shop/state")["decisions"] == 0


def test_put_is_idempotent_and_refuses_what_cannot_change(service):
    state = service.ok("PUT", "/v1/bandits/shop", SHOP)
    assert state["seed"] == 7 and state["config"]["window"] == 600
    assert service.ok("PUT", "/v1/bandits/shop", {**SHOP, "window": 60})["config"]["window"] == 60
    for change in ({"agent": "uniform"}, {"agent": SHOP["agent"] + ",lambda=7"}, {"actions": ["tea"]}, {"seed": 8}, {"schema": None, "context_size": 3}, {"floor": 0.5}):
        body = {key: value for key, value in {**SHOP, **change}.items() if value is not None}
        status, reply, _ = service.call("PUT", "/v1/bandits/shop", body)
        assert status == 409, (change, status, reply)
        assert "agent" not in change or f"not {change['agent'].split(',')[-1]}" in reply["error"], reply
    for change, word in (({"agnt": "x"}, "agent"), ({"window": -1}, "window"), ({"actions": "tea"}, "actions"), ({"actions": []}, "action")):
        status, reply, _ = service.call("PUT", "/v1/bandits/other", {**SHOP, **change})
        assert status == 400 and word in reply["error"], (change, status, reply)
    assert [bandit["name"] for bandit in service.ok("GET", "/v1/bandits")["bandits"]] == ["shop"]


def test_rewards_are_learned_in_the_order_of_decisions_unless_told(service):
    plain = {key: value for key, value in PLAIN.items() if key != "rewards"}
    assert service.ok("PUT", "/v1/bandits/default", plain)["config"]["rewards"] == "largest"
    assert service.ok("PUT", "/v1/bandits/open", {**plain, "window": 0})["config"]["rewards"] == "first"


def test_a_reward_range_is_kept_to(service):
    service.ok("PUT", "/v1/bandits/bounded", {**PLAIN, "reward_range": [0, 1]})
    decided = service.ok("POST", "/v1/bandits/bounded/decide", {"context": [1, 2]})
    status, reply, _ = service.call("POST", "/v1/bandits/bounded/rewards", {"id": decided["id"], "value": 2})
    assert status == 400 and "reward_range" in reply["error"]
    assert service.ok("POST", "/v1/bandits/bounded/rewards", {"id": decided["id"], "value": 1}) == {"answer": "accepted"}


def test_actions_come_and_go(service):
    state = service.ok("POST", "/v1/bandits/shop/actions", {"add": ["bread"], "retire": ["tea"]})
    assert state["actions"] == [
        {"name": "tea", "retired": True},
        {"name": "milk", "retired": False},
        {"name": "soup", "retired": False},
        {"name": "bread", "retired": False},
    ]
    assert service.ok("POST", "/v1/bandits/shop/actions", {"add": ["bread"], "retire": ["tea"]})["actions"] == state["actions"]
    shown = {service.ok("POST", "/v1/bandits/shop/decide", VISITOR)["action"] for _ in range(60)}
    assert "tea" not in shown and "bread" in shown
    status, reply, _ = service.call("POST", "/v1/bandits/shop/actions", {"add": ["x"], "retire": ["nothing"]})
    assert status == 400 and "nothing" in reply["error"]
    service.stop()
    service.start()
    service.wait_until_ready()
    assert service.ok("GET", "/v1/bandits/shop/state")["actions"] == state["actions"]
