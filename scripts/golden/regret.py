#!/usr/bin/env python3
"""The regrets that tests/experiment/acceptance_test.cpp expects, by an implementation of its own in NumPy.

    regret.py lin-ts [REALIZATIONS]      docs/method.md, section 4: T = 2000
    regret.py released [REALIZATIONS]    docs/method.md, section 3: T = 300; single precision

Prints mean, standard deviation and standard error of the normalised regret on the problem `linear` (d = 10, K = 8).
Uses nothing of this project; its random numbers are NumPy's.
"""
import sys

import numpy as np

D, K = 10, 8


class Problem:
    """Contexts N(0, I), rewards x·β_a + N(0, (0.01 a)²), a = 1..K; β_a uniform on (-1, 1)^d scaled to norm 1."""

    def __init__(self, rng):
        self.rng = rng
        beta = rng.uniform(-1, 1, (D, K))
        self.beta = beta / np.linalg.norm(beta, axis=0)
        self.regret = self.uniform = 0.0

    def context(self):
        self.x = self.rng.normal(size=D)
        return self.x

    def reward(self, action):
        means = self.x @ self.beta
        rewards = means + 0.01 * (1 + np.arange(K)) * self.rng.normal(size=K)
        self.regret += means.max() - rewards[action]
        self.uniform += means.max() - rewards.mean()
        return rewards[action]

    def normalised(self):
        return 100 * self.regret / self.uniform


def lin_ts(rng, rounds=2000):
    """Every action a normal-inverse-gamma regression with an intercept, λ = 0.25, a0 = b0 = 6; two initial pulls."""
    problem = Problem(rng)
    precision = np.array([0.25 * np.eye(D + 1)] * K)
    moment, square, n = np.zeros((K, D + 1)), np.zeros(K), np.zeros(K)
    mean, root, b = np.zeros((K, D + 1)), np.array([2.0 * np.eye(D + 1)] * K), np.full(K, 6.0)
    for t in range(rounds):
        x = np.append(problem.context(), 1.0)
        if t < 2 * K:
            a = t % K
        else:
            variance = b / rng.gamma(6 + n / 2)
            draws = mean + np.sqrt(variance)[:, None] * np.einsum("kij,kj->ki", root, rng.normal(size=(K, D + 1)))
            a = int(np.argmax(draws @ x))
        r = problem.reward(a)
        precision[a] += np.outer(x, x)
        moment[a] += r * x
        square[a] += r * r
        n[a] += 1
        covariance = np.linalg.inv(precision[a])
        mean[a] = covariance @ moment[a]
        root[a] = np.linalg.cholesky(covariance)
        b[a] = 6 + (square[a] - mean[a] @ precision[a] @ mean[a]) / 2
    return problem.normalised()


def median_kernel(c):
    """exp(-c/2s²) and s², s² = median(c)/(2 log(M + 1)), the median over all entries."""
    s2 = np.median(c) / (2 * np.log(len(c) + 1))
    return np.exp(-c / (2 * s2)), s2


def squared_distances(a, b):
    """Differences, not products: the clouds of two steps are 1e-3 apart."""
    return np.array([((a - row) ** 2).sum(axis=1) for row in b]).T


class Networks:
    """M networks d-50-K with ReLU, parameters (M, P): W1 (d, 50), b1, W2 (50, K), b2."""

    M, H = 20, 50

    def __init__(self, rng):
        def weights(fan_in, fan_out):
            return rng.normal(size=(self.M, fan_in * fan_out)) / np.sqrt(fan_in + 1)

        theta = [weights(D, self.H), np.zeros((self.M, self.H)), weights(self.H, K), np.zeros((self.M, K))]
        self.theta = np.hstack(theta).astype(np.float32)
        self.previous = self.theta

    def parts(self, theta):
        cut = np.cumsum([D * self.H, self.H, self.H * K])
        w1, b1, w2, b2 = np.split(theta, cut, axis=1)
        return w1.reshape(-1, D, self.H), b1, w2.reshape(-1, self.H, K), b2

    def forward(self, theta, x):
        w1, b1, w2, b2 = self.parts(theta)
        hidden = np.maximum(x @ w1 + b1[:, None], 0)
        return hidden, hidden @ w2 + b2[:, None]

    def score(self, x, a, r):
        """∇ of Σ -(r - m)² - 0.05 |θ|², (M, P)"""
        _, _, w2, _ = self.parts(self.theta)
        hidden, out = self.forward(self.theta, x)
        delta = np.zeros_like(out)
        rows = np.arange(len(r))
        delta[:, rows, a] = 2 * (r - out[:, rows, a])
        back = delta @ w2.transpose(0, 2, 1) * (hidden > 0)
        parts = [x.T @ back, back.sum(1), hidden.transpose(0, 2, 1) @ delta, delta.sum(1)]
        return np.hstack([p.reshape(self.M, -1) for p in parts]) - np.float32(0.1) * self.theta

    def step(self, score):
        """θ += 1e-3 v/(|v| + 1e-6), v = (K G + W/2)/M"""
        k, _ = median_kernel(squared_distances(self.theta, self.theta))
        c = squared_distances(self.theta, self.previous)
        w = np.zeros_like(c)
        if np.median(c) > 0:
            e, s2 = median_kernel(c)
            w = e * (1 - c / s2)
        transport = w.sum(1)[:, None] * self.theta - w @ self.previous
        v = (k @ score + transport / 2) / self.M
        self.previous = self.theta
        self.theta = self.theta + (1e-3 * v / (np.abs(v) + 1e-6)).astype(np.float32)


def released(rng, rounds=300):
    problem, networks = Problem(rng), Networks(rng)
    xs, actions = np.zeros((rounds, D), np.float32), np.zeros(rounds, int)
    rewards = np.zeros(rounds, np.float32)
    for t in range(rounds):
        x = problem.context()
        if t < 2 * K:
            a = t % K
        else:
            one = networks.theta[[rng.integers(networks.M)]]
            a = int(np.argmax(networks.forward(one, x[None].astype(np.float32))[1]))
        xs[t], actions[t], rewards[t] = x, a, problem.reward(a)
        if (t + 1) % 50 == 0 and t + 1 < rounds:
            for _ in range(100):
                rows = rng.integers(t + 1, size=512)
                networks.step(networks.score(xs[rows], actions[rows], rewards[rows]))
    return problem.normalised()


if __name__ == "__main__":
    agent = {"lin-ts": lin_ts, "released": released}[sys.argv[1]]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    values = []
    for seed in range(count):
        values.append(agent(np.random.Generator(np.random.PCG64([2018, seed]))))
        if seed > 0:
            sd = np.std(values, ddof=1)
            print(f"{seed + 1}: mean {np.mean(values):.3f}, sd {sd:.3f}, se {sd / np.sqrt(seed + 1):.3f}", flush=True)
