#!/usr/bin/env python3
"""Makes tests/evaluate/golden-evaluation.json: small random logs, and what NumPy makes of them.

Plain formulas of docs/evaluation.md in double precision: weights, all estimators with their standard errors, a
cross-fitted ridge regression, the rule for the shrinkage, the empirical Bernstein interval and the confidence sequence,
whose incomplete gamma function is a numerical integral here. Uses nothing of this project.

    evaluation.py                 prints the file
    evaluation.py --check FILE    compares FILE with what it would print; exit 1 where a number differs by over 1e-10
"""
import json
import math
import sys

import numpy as np

LEVEL, FOLDS = 0.95, 5
GAUSS = np.polynomial.legendre.leggauss(400)
SHAPES = [(40, 2, 0), (60, 3, 2), (200, 4, 3), (333, 5, 1)]  # rounds, actions, numbers of a context


def shares(rng, n, K, allowed, floor):
    p = rng.dirichlet(np.ones(K), size=n) * (1 - floor) + floor / K
    p = p * allowed
    return p / p.sum(axis=1, keepdims=True)


def make_log(rng, n, K, d):
    allowed = rng.random((n, K)) < 0.8
    allowed[np.arange(n), rng.integers(0, K, n)] = True
    p, pi = shares(rng, n, K, allowed, 0.3), shares(rng, n, K, allowed, 0.0)
    a = np.array([rng.choice(K, p=row) for row in p])
    x = rng.normal(size=(n, d)).astype(np.float32).astype(float)
    return {"allowed": allowed, "p": p, "pi": pi, "a": a, "x": x, "r": rng.random(n) ** 2}


def ridge(log, rounds, K):
    """q (n, K): rounds i % FOLDS are predicted by the others."""
    x, a, r = log["x"], log["a"], log["r"]
    sd = x.std(axis=0)
    z = np.hstack([(x - x.mean(axis=0)) / np.where(sd > 0, sd, 1), np.ones((rounds, 1))])
    q = np.zeros((rounds, K))
    for fold in range(FOLDS):
        inside = np.arange(rounds) % FOLDS == fold
        mean = r[~inside].mean()
        for action in range(K):
            some = ~inside & (a == action)
            A = z[some].T @ z[some] + np.eye(z.shape[1])
            q[inside, action] = mean + z[inside] @ np.linalg.solve(A, z[some].T @ (r[some] - mean))
    return q


def shrinkage(w, residual, dm):
    n, positive = len(w), np.sort(w[w > 0])
    at = lambda share: positive[int(share * (len(positive) - 1))]
    grid = np.exp(np.linspace(math.log(0.01 * at(0.05) ** 2), math.log(100 * at(0.95) ** 2), 30))
    chance = math.log(2 / 0.05)
    slack = np.abs(residual).max() * (math.sqrt(2 * (w**2).mean() * chance / n) + 2 * w.max() * chance / (3 * n))

    def error(lam):
        shrunk = w if lam is None else lam * w / (lam + w * w)
        direct = abs(((w - shrunk) * residual).mean()) + slack
        schwarz = math.sqrt((w * residual**2).mean() * ((w - shrunk) ** 2 / np.where(w > 0, w, 1)).mean())
        return (dm + shrunk * residual).var() / n + min(direct, schwarz) ** 2

    best = min([None, *grid[::-1]], key=error)
    return math.inf if best is None else float(best)


def log_lower_gamma(a, x):
    """ln of the integral of u^(a−1) e^(−u) over 0..x, by 400 Gauss points on each of 60 pieces around the peak."""
    if a == 1.0:
        return math.log(-math.expm1(-x))
    nodes, weights = GAUSS
    peak, width = a - 1, math.sqrt(a) * 14 + 10
    low, high = max(0.0, peak - width), min(x, peak + width)
    edges = np.linspace(low, high, 61)
    u = (edges[1:, None] + edges[:-1, None]) / 2 + (edges[1:, None] - edges[:-1, None]) / 2 * nodes
    f = (a - 1) * np.log(u) - u + np.log(weights) + np.log((edges[1:, None] - edges[:-1, None]) / 2)
    return float(f.max() + np.log(np.exp(f - f.max()).sum()))


def lower_bound(x, alpha):
    before = np.concatenate([[0.0], np.cumsum(x)[:-1]])
    predicted = np.minimum(1.0, (0.5 + before) / np.arange(1, len(x) + 1))
    v, total, t = ((x - predicted) ** 2).sum(), x.sum(), len(x)

    def wealth(mu):
        s = total - t * mu
        return s + v - (v + 1) * math.log(s + v + 1) + log_lower_gamma(v + 1, s + v + 1) - log_lower_gamma(1.0, 1.0)

    if wealth(0.0) <= math.log(1 / alpha):
        return 0.0
    low, high = 0.0, total / t
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if wealth(middle) > math.log(1 / alpha) else (low, middle)
    return min(1.0, (low + high) / 2)


def answers(log, n, K):
    a, r, rows = log["a"], log["r"], np.arange(n)
    w = log["pi"][rows, a] / log["p"][rows, a]
    q = ridge(log, n, K)
    dm, residual = (log["pi"] * q).sum(axis=1), r - q[rows, a]
    lam = shrinkage(w, residual, dm)
    shrunk = w if math.isinf(lam) else lam * w / (lam + w * w)
    terms = {"ips": w * r, "dm": dm, "dr": dm + w * residual, "dros": dm + shrunk * residual}
    out = {name: [t.mean(), t.std(ddof=1) / math.sqrt(n)] for name, t in terms.items()}
    snips = (w * r).sum() / w.sum()
    out["snips"] = [snips, math.sqrt((w**2 * (r - snips) ** 2).sum()) / w.sum()]
    out["shrinkage"] = -1.0 if math.isinf(lam) else lam
    b = np.where(log["p"] > 0, log["pi"] / np.where(log["p"] > 0, log["p"], 1), 0).max()
    term = math.log(4 / (1 - LEVEL))
    half = math.sqrt(2 * (w * r).var(ddof=1) * term / n) + 7 * b * term / (3 * (n - 1))
    out["bernstein"] = [(w * r).mean() - half, (w * r).mean() + half]
    alpha = (1 - LEVEL) / 2
    out["sequence"] = [lower_bound(w * r, alpha), 1 - lower_bound(w * (1 - r), alpha)]
    out["difference"] = [2 * lower_bound((w * r + 1 - r) / 2, alpha) - 1,
                         1 - 2 * lower_bound((r + w * (1 - r)) / 2, alpha)]
    d = dm + w * residual - r
    out["dr_difference"] = [d.mean(), d.std(ddof=1) / math.sqrt(n)]
    out["effective"] = w.sum() ** 2 / (w**2).sum()
    return out


def make():
    rng, cases = np.random.default_rng(19), []
    for n, K, d in SHAPES:
        log = make_log(rng, n, K, d)
        expected = {k: np.asarray(v, float).tolist() for k, v in answers(log, n, K).items()}
        cases.append({**{k: v.astype(int).tolist() if k in ("allowed", "a") else v.tolist() for k, v in log.items()},
                      "expected": expected})
    return cases


def differences(a, b, path=""):
    if isinstance(a, dict):
        return [m for k in a for m in differences(a[k], b[k], f"{path}.{k}")]
    if isinstance(a, list):
        return [m for i, (x, y) in enumerate(zip(a, b, strict=True)) for m in differences(x, y, f"{path}[{i}]")]
    return [] if abs(a - b) <= 1e-10 * (1 + abs(a)) else [f"{path}: {a} and {b}"]


if __name__ == "__main__":
    made = make()
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2], encoding="utf-8") as file:
            wrong = differences(made, json.load(file))
        print("\n".join(wrong[:10]) or "the same")
        sys.exit(1 if wrong else 0)
    print(json.dumps(made, separators=(",", ":")))
