"""A shop's service: which banner to show to whom. Everything it knows is in the log, so that it can be killed at any time.

    flask --app shop run            # SHOP_LOG names the directory of the log
    curl localhost:5000/banner -H 'Content-Type: application/json' -d '{"visit": "v1", "visitor": {"age": 31, "country": "de"}}'
    curl localhost:5000/click -H 'Content-Type: application/json' -d '{"visit": "v1"}'
"""
import os

import flask

import pits

BANNERS = ["tea", "milk", "cake"]
SCHEMA = {"features": [{"name": "age", "kind": "number", "missing": "level"},
                       {"name": "country", "kind": "category", "levels": ["de", "fr", "it"], "unknown": "level"}],
          "others": "ignore"}
STATUS = {"accepted": 200, "duplicate": 200, "expired": 410, "unknown": 404, "full": 429}


def create_app(directory=os.environ.get("SHOP_LOG", "shop-log")):
    app = flask.Flask(__name__)
    shop = pits.LiveBandit(directory, actions=BANNERS, schema=SCHEMA, window=3600, floor=0.05)
    app.extensions["shop"] = shop

    @app.post("/banner")
    def banner():
        asked = flask.request.get_json()
        decision = shop.decide(asked["visitor"], key=asked["visit"])  # a repeated request is the same decision
        return {"banner": decision.action, "propensity": decision.propensity}

    @app.post("/click")
    def click():
        visit = flask.request.get_json()["visit"]
        decision = shop.find(visit)
        answer = "unknown" if decision is None else shop.reward(decision, 1.0, key=visit)
        return {"answer": answer}, STATUS[answer]

    @app.get("/status")
    def status():
        return shop.status._asdict()

    @app.errorhandler(pits.InputError)
    def refused(error):
        return {"error": str(error)}, 400

    return app
