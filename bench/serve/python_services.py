"""The same service in Flask and in FastAPI around the Python package, to compare `pits serve` with.

BENCH_LOG names the directory of the log, BENCH_AGENT the agent. Everything that `pits serve` does for a decision is done
here too: propensities, the log, and rewards that are durable before they are answered.
"""
import os

import pits

LIVE = pits.LiveBandit(os.environ["BENCH_LOG"], os.environ.get("BENCH_AGENT", "uniform"),
                       actions=[f"a{i}" for i in range(7)], n_features=20, seed=1, rewards="first", window=3600)
STATUS = {"accepted": 200, "duplicate": 200, "expired": 410, "unknown": 404, "full": 409}


def decide(asked):
    decision = LIVE.decide(asked["context"])
    return {"id": decision.id, "action": decision.action, "propensity": decision.propensity}


def flask_app():
    import flask

    app = flask.Flask(__name__)

    @app.post("/decide")
    def decide_one():
        return decide(flask.request.get_json())

    @app.post("/rewards")
    def reward():
        asked = flask.request.get_json()
        answer = LIVE.reward(asked["id"], asked["value"], key=asked.get("key", ""))
        return {"answer": answer}, STATUS[answer]

    return app


def fastapi_app():
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse
    from pydantic import BaseModel

    class Asked(BaseModel):
        context: list[float]

    class Reward(BaseModel):
        id: int
        value: float
        key: str = ""

    app = FastAPI()

    @app.post("/decide")
    async def decide_one(asked: Asked):
        return decide({"context": asked.context})

    @app.post("/rewards")
    def reward(asked: Reward):  # waits for the disk, so it runs in the pool of threads
        answer = LIVE.reward(asked.id, asked.value, key=asked.key)
        return JSONResponse({"answer": answer}, STATUS[answer])

    return app
