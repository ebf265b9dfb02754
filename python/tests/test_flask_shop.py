"""examples/flask_shop, as its callers meet it. Flask is needed here only (Debian: python3-flask)."""
import importlib.util
import pathlib

import pytest

pytest.importorskip("flask", reason="flask is not installed (Debian: python3-flask)")
FILE = pathlib.Path(__file__).parents[2] / "examples" / "flask_shop" / "shop.py"


@pytest.fixture
def shop():
    spec = importlib.util.spec_from_file_location("flask_shop", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_service_decides_takes_clicks_and_goes_on_after_a_restart(shop, tmp_path):
    visitor = {"visit": "v1", "visitor": {"age": 31, "country": "de", "browser": "x"}}
    app = shop.create_app(tmp_path / "log")
    client = app.test_client()
    first = client.post("/banner", json=visitor)
    shown = first.json
    assert first.status_code == 200 and shown["banner"] in shop.BANNERS
    assert client.post("/banner", json=visitor).json == shown
    assert client.post("/click", json={"visit": "v1"}).json == {"answer": "accepted"}
    refused = client.post("/banner", json={"visit": "v2", "visitor": {"age": "old"}})
    assert refused.status_code == 400 and "'age'" in refused.json["error"]
    app.extensions["shop"].close()

    app = shop.create_app(tmp_path / "log")
    client = app.test_client()
    assert client.post("/banner", json=visitor).json == shown
    assert client.post("/click", json={"visit": "v1"}).json == {"answer": "duplicate"}
    assert client.post("/click", json={"visit": "v2"}).status_code == 404
    assert client.get("/status").json["problem"] == ""
    app.extensions["shop"].close()
