"""`pits serve`, as its operators meet it: crashes, failing stores, keys, signals, metrics."""
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess

from service import PLAIN, PROGRAM, SHOP, VISITOR, Service


def test_a_lost_decision_comes_back_with_its_token_and_is_not_learned(service):
    service.ok("PUT", "/v1/bandits/other", PLAIN)
    decided = service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    service.ok("POST", "/v1/bandits/shop/rewards", {"id": decided["id"], "value": 1})  # its record is durable now
    service.kill()
    log = service.store / "shop"
    for file in log.iterdir():  # a backup from before the decision: its record is lost
        file.unlink()
    service.start()
    service.wait_until_ready()
    assert service.call("POST", "/v1/bandits/shop/rewards", {"id": decided["id"], "value": 1})[0] == 404
    service.ok("PUT", "/v1/bandits/shop", SHOP)
    reward = {"token": decided["token"], "value": 1}
    assert service.ok("POST", "/v1/bandits/shop/rewards", reward) == {"answer": "accepted"}
    assert service.ok("POST", "/v1/bandits/shop/rewards", reward) == {"answer": "duplicate"}
    status, reply, _ = service.call("POST", "/v1/bandits/other/rewards", reward)
    assert status == 400 and "token" in reply["error"]
    assert service.ok("POST", "/v1/bandits/shop/decide", VISITOR)["id"] > decided["id"]
    service.stop()
    events = service.events("shop")
    kinds = [event["event"] for event in events]
    assert kinds.count("restored") == 1 and kinds.count("rewarded") == 1
    assert [event["reason"] for event in events if event["event"] == "settled"] == ["lost"]


def test_a_service_that_was_killed_goes_on(service):
    ids = [service.ok("POST", "/v1/bandits/shop/decide", VISITOR)["id"] for _ in range(20)]
    for i in ids[:10]:
        service.ok("POST", "/v1/bandits/shop/rewards", {"id": i, "value": 1})
    service.kill()
    service.start()
    service.wait_until_ready()
    answers = service.ok("POST", "/v1/bandits/shop/rewards", {"rewards": [{"id": i, "value": 1} for i in ids]})["answers"]
    assert answers == ["duplicate"] * 10 + ["accepted"] * 10
    assert service.ok("POST", "/v1/bandits/shop/decide", VISITOR)["id"] > max(ids)
    assert service.stop()[0] == 0
    subprocess.run([PROGRAM, "log", "check", service.store / "shop"], check=True, capture_output=True)
    subprocess.run([PROGRAM, "log", "verify", service.store / "shop"], check=True, capture_output=True)


def test_a_damaged_log_stops_its_bandit_and_no_other(service):
    service.ok("PUT", "/v1/bandits/other", PLAIN)
    service.ok("POST", "/v1/bandits/other/decide", {"context": [1, 2]})
    service.stop()
    file = service.store / "shop" / "events.db"
    whole = file.read_bytes()
    file.write_bytes(b"not a database" * 1000)
    service.start()
    while service.call("POST", "/v1/bandits/other/decide", {"context": [1, 2]})[0] != 200:
        assert service.process.poll() is None
    while True:
        status, reply, headers = service.call("POST", "/v1/bandits/shop/decide", VISITOR)
        if "is being recovered" not in reply["error"]:
            break
    assert status == 503 and "events.db" in reply["error"] and int(headers["Retry-After"]) >= 1
    status, reply, _ = service.call("GET", "/readyz")
    assert status == 503 and "shop" in reply["problems"][0]
    assert service.call("GET", "/livez")[0] == 200
    assert 'pits_bandit_ready{bandit="shop"} 0' in service.ok("GET", "/metrics")
    file.write_bytes(whole)  # restored while the service runs
    service.wait_until_ready()
    service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    assert any("shop" in line for line in service.stop()[1].splitlines())  # stderr names it


def test_damaged_snapshots_are_made_again(service):
    decide = {"decisions": [VISITOR] * 30}
    for decided in service.ok("POST", "/v1/bandits/shop/decide", decide)["decisions"]:
        service.ok("POST", "/v1/bandits/shop/rewards", {"id": decided["id"], "value": 1})
    service.stop()
    file = service.store / "shop" / "snapshots.db"
    file.write_bytes(b"not a database" * 1000)
    service.start()
    service.wait_until_ready()
    assert "snapshots.db.damaged" in service.ok("GET", "/v1/bandits/shop/state")["problem"]
    service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    reported = service.process.stderr.readline()  # by the service itself, within a second
    assert "shop: " in reported and "was damaged" in reported and "learned again from event 1" in reported
    assert service.stop()[0] == 0
    assert (service.store / "shop" / "snapshots.db.damaged").read_bytes() == b"not a database" * 1000
    subprocess.run([PROGRAM, "log", "verify", service.store / "shop"], check=True, capture_output=True)


def test_what_is_left_of_a_log_is_a_problem_and_no_new_bandit(service):
    service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    service.stop()
    (service.store / "shop" / "events.db").unlink()
    service.start()
    while True:
        status, reply, _ = service.call("PUT", "/v1/bandits/shop", SHOP)
        assert status == 503
        if "events.db is missing" in reply["error"]:
            break
    assert "events.db is missing" in service.call("GET", "/readyz")[1]["problems"][0]


def test_a_token_whose_key_is_gone_does_no_harm_beside_an_id(service):
    decided = service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    service.stop()
    (service.store / "token-keys").unlink()
    service.start()
    service.wait_until_ready()
    assert service.call("POST", "/v1/bandits/shop/rewards", {"token": decided["token"], "value": 1})[0] == 400
    reward = {"id": decided["id"], "token": decided["token"], "value": 1}
    assert service.ok("POST", "/v1/bandits/shop/rewards", reward) == {"answer": "accepted"}


def test_a_store_that_takes_nothing_refuses_rewards_and_goes_on_deciding(service):
    decided = [service.ok("POST", "/v1/bandits/shop/decide", VISITOR) for _ in range(5)]
    service.ok("POST", "/v1/bandits/shop/rewards", {"id": decided[0]["id"], "value": 1})
    files = list((service.store / "shop").glob("events.db*"))
    largest = max(file.stat().st_size for file in files)
    before = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (1, before[1]))
    reward = {"id": decided[1]["id"], "value": 1, "token": decided[1]["token"]}
    status, reply, headers = service.call("POST", "/v1/bandits/shop/rewards", reward)
    assert status == 503 and int(headers["Retry-After"]) >= 1, (status, reply, largest)
    later = service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    assert service.call("POST", "/v1/bandits/shop/decide", {**VISITOR, "key": "k"})[0] == 503
    status, reply, _ = service.call("GET", "/readyz")
    assert status == 503 and "shop" in reply["problems"][0]
    assert service.ok("GET", "/v1/bandits/shop/state")["problem"] != ""
    assert 'pits_store_failing{bandit="shop"} 1' in service.ok("GET", "/metrics")
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, before)
    while service.call("POST", "/v1/bandits/shop/rewards", reward)[0] != 200:  # the store is tried again
        assert service.process.poll() is None
    assert service.ok("POST", "/v1/bandits/shop/rewards", {"id": later["id"], "value": 1}) == {"answer": "accepted"}
    service.wait_until_ready()
    service.stop()
    kinds = [event["event"] for event in service.events("shop")]
    assert kinds.count("decided") == 6 and kinds.count("rewarded") == 3


def test_durable_decisions_have_no_token(tmp_path):
    with Service(tmp_path / "store", "--decisions", "durable") as service:
        service.ok("PUT", "/v1/bandits/shop", SHOP)
        many = service.ok("POST", "/v1/bandits/shop/decide", {"decisions": [VISITOR] * 5})["decisions"]
        assert all("token" not in decided for decided in many)
        service.kill()
        assert [event["id"] for event in service.events("shop") if event["event"] == "decided"] == [
            decided["id"] for decided in many
        ]


def test_keys_and_scopes(tmp_path):
    keys = tmp_path / "keys"

    def new_key(name, *options):
        done = subprocess.run([PROGRAM, "key", keys, name, *options], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    admin, web = new_key("admin", "--scopes", "admin,read"), new_key("web")
    slow = new_key("slow", "--scopes", "read", "--rate", "0.01")
    assert keys.stat().st_mode & 0o777 == 0o600
    assert admin not in keys.read_text() and web not in keys.read_text()
    with Service(tmp_path / "store", "--keys", str(keys)) as service:
        assert service.call("GET", "/livez")[0] == 200
        status, _, headers = service.call("GET", "/v1/bandits")
        assert status == 401 and headers["WWW-Authenticate"] == "Bearer"
        service.key = admin
        service.ok("PUT", "/v1/bandits/shop", SHOP)
        assert service.call("POST", "/v1/bandits/shop/decide", VISITOR)[0] == 403
        service.key = web
        decided = service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
        service.ok("POST", "/v1/bandits/shop/rewards", {"id": decided["id"], "value": 1})
        assert service.call("GET", "/metrics")[0] == 403
        service.key = web[:-1] + ("A" if web[-1] != "A" else "B")
        assert service.call("POST", "/v1/bandits/shop/decide", VISITOR)[0] == 401
        service.key = slow
        service.ok("GET", "/v1/bandits")
        status, _, headers = service.call("GET", "/v1/bandits")
        assert status == 429 and 90 <= int(headers["Retry-After"]) <= 101
        late = new_key("late", "--scopes", "read")
        service.key = late
        assert service.call("GET", "/v1/bandits")[0] == 401
        service.process.send_signal(signal.SIGHUP)
        assert "read again" in service.process.stderr.readline()
        service.ok("GET", "/v1/bandits")


def test_what_is_wrong_is_told_to_keys_that_may_read(tmp_path):
    keys = tmp_path / "keys"
    read, web = (subprocess.run([PROGRAM, "key", keys, name, "--scopes", scopes], capture_output=True, text=True, check=True).stdout.strip()
                 for name, scopes in [("read", "read"), ("web", "decide,reward")])
    for name in ["secret", "other"]:
        (tmp_path / "store" / name).mkdir(parents=True)
        (tmp_path / "store" / name / "snapshots.db").touch()
    with Service(tmp_path / "store", "--keys", str(keys)) as service:
        service.key = read
        while "recovered" in str(service.call("GET", "/readyz")[1]["problems"]):  # for a moment after the start
            assert service.process.poll() is None
        status, told, headers = service.call("GET", "/readyz")
        missing = "events.db is missing: restore it, or move the rest away"
        assert status == 503 and sorted(told["problems"]) == [f"other: {missing}", f"secret: {missing}"]
        for service.key in [None, web, "unknown"]:
            status, reply, others = service.call("GET", "/readyz")
            assert status == 503 and others["Retry-After"] == headers["Retry-After"]
            assert reply == {"ready": False, "problems": ["2 problems; a key with the scope 'read' is told which"]}
            assert service.call("GET", "/livez")[0] == 200


def test_pages_of_other_sites_are_refused(service):
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example:8080"}, {"Origin": "http://localhost.evil.example"}):
        status, reply, _ = service.call("POST", "/v1/bandits/shop/decide", VISITOR, headers)
        assert status == 403 and "localhost" in reply["error"]
    for headers in ({"Origin": service.url}, {"Host": "localhost:80"}, {"Host": "[::1]"}):
        assert service.call("POST", "/v1/bandits/shop/decide", VISITOR, headers)[0] == 200


def test_pages_of_an_allowed_origin_may_call_with_a_key(tmp_path):
    keys, page = tmp_path / "keys", {"Origin": "https://shop.example"}
    key = subprocess.run([PROGRAM, "key", keys, "page", "--scopes", "admin,reward"], capture_output=True, text=True, check=True)
    options = ["--keys", str(keys), "--allow-origin", "http://localhost:3000", "--allow-origin", page["Origin"]]
    with Service(tmp_path / "store", *options) as service:
        path = "/v1/bandits/shop/rewards"
        ask = {**page, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        status, _, headers = service.call("OPTIONS", path, headers=ask)
        assert status == 204 and headers["Access-Control-Allow-Origin"] == page["Origin"]
        assert "POST" in headers["Access-Control-Allow-Methods"] and "Authorization" in headers["Access-Control-Allow-Headers"]
        status, _, headers = service.call("POST", path, {"id": 1, "value": 1}, page)  # its script reads what is wrong
        assert status == 401 and headers["Access-Control-Allow-Origin"] == page["Origin"] and headers["Vary"] == "Origin"
        service.key = key.stdout.strip()
        service.ok("PUT", "/v1/bandits/shop", SHOP)
        status, reply, headers = service.call("POST", path, {"id": 1, "value": 1}, page)
        assert (status, reply["answer"], headers["Access-Control-Allow-Origin"]) == (404, "unknown", page["Origin"])
        for other in ({}, {"Origin": "https://shop.example.evil"}, {"Origin": "null"}):
            _, _, headers = service.call("POST", path, {"id": 1, "value": 1}, other)
            assert "Access-Control-Allow-Origin" not in headers
        assert service.call("OPTIONS", path, headers={"Origin": "https://evil.example"})[0] == 405


def test_without_keys_an_allowed_page_may_call_and_no_other(tmp_path):
    with Service(tmp_path / "store", "--allow-origin", "https://shop.example") as service:
        service.ok("PUT", "/v1/bandits/shop", SHOP)
        for origin, status in (("https://shop.example", 200), ("https://evil.example", 403)):
            assert service.call("POST", "/v1/bandits/shop/decide", VISITOR, {"Origin": origin})[0] == status


def refused(tmp_path, *options):
    done = subprocess.run([PROGRAM, "serve", "--store", tmp_path / "s", *options], capture_output=True, text=True)
    return done.returncode, done.stderr


def test_other_machines_need_keys(tmp_path):
    code, text = refused(tmp_path, "--listen", "0.0.0.0:0")
    assert code == 2 and "--keys" in text


def test_bad_options_are_refused(tmp_path):
    for options, word in (
        (["--listen", "nonsense"], "nonsense"),
        (["--decisions", "maybe"], "token or durable"),
        (["--tls-cert", "x"], "--tls-key"),
        (["--tls-cert", "/nowhere", "--tls-key", "/nowhere"], "/nowhere"),
        (["--keys", "/nowhere"], "/nowhere"),
        (["--threads", "0"], "threads"),
        (["--allow-origin", "shop.example"], "--allow-origin is an origin"),
        (["--allow-origin", "*"], "--allow-origin is an origin"),
        (["--allow-origin", "https://shop.example/"], "--allow-origin is an origin"),
    ):
        code, text = refused(tmp_path, *options)
        assert code in (1, 2, 3) and word in text, (options, code, text)


def test_one_service_per_store(service):
    done = subprocess.run(
        [PROGRAM, "serve", "--store", service.store, "--listen", "127.0.0.1:0"], capture_output=True, text=True
    )
    assert done.returncode != 0 and str(service.store) in done.stderr


def test_a_stopping_service_answers_what_is_in_flight(service):
    service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    code, text = service.stop()
    assert code == 0 and "stopping" in text
    assert [event["event"] for event in service.events("shop")].count("decided") == 1


def test_sockets_can_be_handed_over_and_the_supervisor_is_told(tmp_path):
    notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notes.bind(str(tmp_path / "notify"))
    listener = socket.create_server(("127.0.0.1", 0))
    script = 'export LISTEN_PID=$$; exec "$@"'
    os.set_inheritable(listener.fileno(), True)

    def as_descriptor_3():
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)

    environment = {**os.environ, "LISTEN_FDS": "1", "NOTIFY_SOCKET": str(tmp_path / "notify")}
    process = subprocess.Popen(
        ["sh", "-c", script, "sh", PROGRAM, "serve", "--store", str(tmp_path / "s")],
        env=environment, close_fds=False, preexec_fn=as_descriptor_3, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        words = iter(lambda: notes.recv(100), b"READY=1")
        assert set(words) <= {b"EXTEND_TIMEOUT_USEC=60000000"}
        with socket.create_connection(listener.getsockname()) as client:
            client.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            reply = b""
            while piece := client.recv(1000):
                reply += piece
        assert reply.startswith(b"HTTP/1.1 200")
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    finally:
        process.kill()
        process.stderr.close()


def test_metrics_are_well_formed(service):
    service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    text = service.ok("GET", "/metrics")
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    names = set()
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        found = re.fullmatch(r'([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*\})? (\S+)', line)
        assert found, line
        float(found.group(3))
        name = found.group(1)
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        assert name in types or types.get(base) == "histogram", line
        assert (name, found.group(2)) not in names
        names.add((name, found.group(2)))
    assert 'pits_decisions_total{bandit="shop"} 1' in text
    assert 'pits_requests_total{route="POST /v1/bandits/{name}/decide",status="2xx"} 1' in text


def test_all_metrics_of_version_one_are_there(service):
    """Lines of name, type and labels (docs/versions.md)."""
    service.ok("POST", "/v1/bandits/shop/decide", VISITOR)
    text = service.ok("GET", "/metrics")
    frozen = [line.split() for line in (pathlib.Path(__file__).parents[2] / "tests" / "stable" / "metrics.txt").read_text().splitlines()]
    assert len(frozen) > 25
    for name, kind, *labels in frozen:
        assert f"# TYPE {name} {kind}\n" in text
        sample = re.search(rf"^{name}(?:_count)?(\{{.*\}})? ", text, re.M)
        assert sample, name
        assert re.findall(r'([a-z_]+)="', sample.group(1) or "") == labels, name


def test_the_page_is_self_contained(service):
    status, text, headers = service.call("GET", "/")
    assert status == 200 and "<html" in text and headers["X-Frame-Options"] == "DENY"
    assert "Content-Security-Policy" in text and "default-src 'none'" in text
    assert not re.search(r'(src|href)="https?://', text)
