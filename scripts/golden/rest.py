#!/usr/bin/env python3
"""How much of a posterior's variance clouds of 100 particles keep: the bounds of tests/flow/posterior_test.cpp.

    rest.py [PROBLEMS]

Each flow runs to rest on as many random Bayesian linear regressions of 5 coefficients (the test's kind: 50 rows of an
AR(1) design, noise √50, prior sd 3), from N(1, I), by 1000 steps of Adam whose step falls from 0.1 to 1e-4. Prints mean
and standard deviation over the problems of the smallest and the largest ratio of a coordinate's variance to the exact
one. NumPy only; the flows are those of docs/method.md, section 2, written anew.
"""
import sys

import numpy as np

M, D, ROWS, STEPS = 100, 5, 50, 1000


def problem(rng):
    """Posterior mean and covariance."""
    x = rng.normal(size=(ROWS, D))
    for j in range(1, D):
        x[:, j] = 0.5 * x[:, j - 1] + np.sqrt(0.75) * x[:, j]
    y = x @ rng.normal(size=D) + np.sqrt(ROWS) * rng.normal(size=ROWS)
    covariance = np.linalg.inv(x.T @ x / ROWS + np.eye(D) / 9)
    return covariance @ x.T @ y / ROWS, covariance


def costs(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(axis=2)


def spread(weights, a, b):
    """Row i: Σ_j w_ij (a_i - b_j)"""
    return weights.sum(axis=1)[:, None] * a - weights @ b


def kernel(theta):
    c = costs(theta, theta)
    h = np.median(c) / np.log(M + 1)
    return np.exp(-c / h), h


def svgd(theta, score, _):
    k, h = kernel(theta)
    return (k @ score + 2 / h * spread(k, theta, theta)) / M


def blob(theta, score, _):
    k, h = kernel(theta)
    inverse = 1 / k.sum(axis=1)
    return score + 2 / h * spread(k * (inverse[:, None] + inverse[None]), theta, theta)


def gfsd(theta, score, _):
    k, h = kernel(theta)
    return score + 2 / h * spread(k / k.sum(axis=1)[:, None], theta, theta)


def gfsf(theta, score, _):
    k, h = kernel(theta)
    return score + np.linalg.solve(k + 0.01 * np.eye(M), 2 / h * spread(k, theta, theta))


def dgf(theta, score, previous):
    c = costs(theta, previous)
    ratio = c / np.median(c)
    return svgd(theta, score, None) - spread((ratio - 1) * np.exp(-ratio), theta, previous) / M


def plan(c, lam):
    k = np.exp(-c / lam)
    v = np.ones(M)
    for _ in range(10000):
        u = 1 / (M * (k @ v))
        v = 1 / (M * (k.T @ u))
        if np.abs(u * (k @ v) - 1 / M).max() < 1e-9 / M:
            break
    return u[:, None] * k * v[None]


def sinkhorn(theta, score, previous):
    c = costs(theta, previous)
    lam = np.median(c)
    pull = spread(plan(c, lam), theta, previous) - spread(plan(costs(theta, theta), lam), theta, theta)
    return svgd(theta, score, None) - M * pull


def ratios(flow, rng):
    mean, covariance = problem(rng)
    precision = np.linalg.inv(covariance)
    theta = 1 + rng.normal(size=(M, D))
    previous = theta
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    for k in range(STEPS):
        v = flow(theta, (mean - theta) @ precision, previous)
        first = 0.9 * first + 0.1 * v
        second = 0.999 * second + 0.001 * v * v
        step = 0.1 * np.exp(-k * np.log(1e3) / STEPS)
        previous = theta
        theta = theta + step * (first / (1 - 0.9 ** (k + 1))) / (np.sqrt(second / (1 - 0.999 ** (k + 1))) + 1e-8)
    kept = theta.var(axis=0) / np.diag(covariance)
    return kept.min(), kept.max()


if __name__ == "__main__":
    problems = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for name, flow in (("svgd", svgd), ("gfsf", gfsf), ("blob", blob), ("gfsd", gfsd), ("dgf", dgf),
                       ("dgf-sinkhorn", sinkhorn)):
        kept = np.array([ratios(flow, np.random.Generator(np.random.PCG64([54, p]))) for p in range(problems)])
        low, high = kept.T
        print(f"{name:13s} smallest {low.mean():.3f} ± {low.std(ddof=1):.3f}   largest {high.mean():.3f} ± "
              f"{high.std(ddof=1):.3f}", flush=True)
