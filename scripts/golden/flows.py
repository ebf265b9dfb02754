#!/usr/bin/env python3
"""Makes tests/flow/golden-flows.json: velocities of all flows for small random clouds.

Plain loops over the formulas of docs/method.md, sections 2 and 3, in double precision. Uses only the Python standard
library and nothing of this project.

    flows.py                 prints the file
    flows.py --check FILE    compares FILE with what it would print; exit 1 where a number differs by more than 1e-12
"""
import json
import math
import random
import sys

SHAPES = [(2, 4), (5, 7), (8, 30), (12, 3)]  # M particles of P coordinates
GAMMA, TAU, BETA, RIDGE = 0.8, 2.0, 0.1, 0.01


def squared_distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def costs(a, b):
    return [[squared_distance(x, y) for y in b] for x in a]


def median(rows):
    """Of all entries, the zeros of the diagonal included."""
    flat = sorted(x for row in rows for x in row)
    return (flat[(len(flat) - 1) // 2] + flat[len(flat) // 2]) / 2


def kernel(theta, h):
    """k_ij = exp(-|θ_i - θ_j|²/h)"""
    return [[math.exp(-c / h) for c in row] for row in costs(theta, theta)]


def weighted_differences(weights, a, b):
    """Row i: Σ_j w_ij (a_i - b_j)"""
    P = len(a[0])
    return [[math.fsum(w * (a[i][l] - b[j][l]) for j, w in enumerate(row)) for l in range(P)]
            for i, row in enumerate(weights)]


def times(scale, rows):
    return [[scale * x for x in row] for row in rows]


def plus(*terms):
    return [[math.fsum(xs) for xs in zip(*rows)] for rows in zip(*terms)]


def svgd(theta, score, h, own=False):
    """(1/M) Σ_j [k_ij G_j + (2/h) k_ij (θ_i - θ_j)]; with own scores G_i in place of G_j."""
    M, P = len(theta), len(theta[0])
    k = kernel(theta, h)
    drive = [[math.fsum(k[i][j] * score[i if own else j][l] for j in range(M)) for l in range(P)] for i in range(M)]
    return times(1 / M, plus(drive, times(2 / h, weighted_differences(k, theta, theta))))


def transport(theta, previous, lam):
    """Eq. 6: -(γ/M) Σ_j (c_ij/λ - 1) exp(-c_ij/λ) (θ_i - θ'_j)"""
    w = [[(c / lam - 1) * math.exp(-c / lam) for c in row] for row in costs(theta, previous)]
    return times(-GAMMA / len(theta), weighted_differences(w, theta, previous))


def entropic_plan(cost, lam):
    """Rows and columns of exp(-c/λ) scaled in turn until both sum to 1/M (Cuturi 2013)."""
    M = len(cost)
    k = [[math.exp(-c / lam) for c in row] for row in cost]
    u, v = [1.0] * M, [1.0] * M
    for _ in range(1000000):
        u_next = [1 / (M * math.fsum(k[i][j] * v[j] for j in range(M))) for i in range(M)]
        v = [1 / (M * math.fsum(k[i][j] * u_next[i] for i in range(M))) for j in range(M)]
        change = max(abs(a / b - 1) for a, b in zip(u_next, u))
        u = u_next
        if change < 1e-15:
            break
    plan = [[u[i] * k[i][j] * v[j] for j in range(M)] for i in range(M)]
    off = max([abs(math.fsum(row) - 1 / M) for row in plan] + [abs(math.fsum(col) - 1 / M) for col in zip(*plan)])
    assert off < 1e-14, off
    return plan


def sinkhorn(theta, previous, lam, debiased):
    """-(1/τ) M Σ_j π_ij (θ_i - θ'_j); debiased: minus the same term with the plan of θ to itself."""
    M = len(theta)
    pull = weighted_differences(entropic_plan(costs(theta, previous), lam), theta, previous)
    if debiased:
        own = weighted_differences(entropic_plan(costs(theta, theta), lam), theta, theta)
        pull = plus(pull, times(-1, own))
    return times(-M / TAU, pull)


def density_repulsion(theta, h, blob):
    """(2/h) Σ_j k_ij (θ_i - θ_j) (1/S_i + 1/S_j), S_i = Σ_j k_ij; GFSD has 1/S_i only."""
    k = kernel(theta, h)
    S = [math.fsum(row) for row in k]
    w = [[k_ij * (1 / S[i] + (1 / S[j] if blob else 0)) for j, k_ij in enumerate(row)] for i, row in enumerate(k)]
    return times(2 / h, weighted_differences(w, theta, theta))


def solve(a, b):
    """x with a x = b by elimination with row pivots; b and x have several columns."""
    rows = [list(x) + list(y) for x, y in zip(a, b)]
    M = len(rows)
    for c in range(M):
        pivot = max(range(c, M), key=lambda i: abs(rows[i][c]))
        rows[c], rows[pivot] = rows[pivot], rows[c]
        for i in range(M):
            if i != c:
                factor = rows[i][c] / rows[c][c]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[c])]
    return [[x / rows[i][i] for x in rows[i][M:]] for i in range(M)]


def stein_repulsion(theta, h):
    """GFSF: Σ_j [(K + εI)⁻¹]_ij Σ_l (2/h) k_jl (θ_j - θ_l), ε = 0.01 max K; max K = k_ii = 1."""
    k = kernel(theta, h)
    gradient = times(2 / h, weighted_differences(k, theta, theta))
    return solve([[x + (RIDGE if i == j else 0) for j, x in enumerate(row)] for i, row in enumerate(k)], gradient)


def released_dgf(theta, score, previous, h):
    """The authors' code: (K G + W/2)/M, W_i = Σ_j w_ij (θ_i - θ'_j), w_ij = exp(-c_ij/2s²)(1 - c_ij/s²)."""
    M, P = len(theta), len(theta[0])
    k = kernel(theta, h)
    c = costs(theta, previous)
    s2 = median(c) / (2 * math.log(M + 1))
    w = [[math.exp(-x / (2 * s2)) * (1 - x / s2) for x in row] for row in c]
    drive = [[math.fsum(k[i][j] * score[j][l] for j in range(M)) for l in range(P)] for i in range(M)]
    return times(1 / M, plus(drive, times(0.5, weighted_differences(w, theta, previous))))


def velocities(theta, score, previous, h, lam):
    neighbour, own = svgd(theta, score, h), svgd(theta, score, h, own=True)
    eq6 = transport(theta, previous, lam)
    return {
        "ensemble": score,
        "svgd": neighbour,
        "svgd_own": own,
        "dgf": plus(neighbour, eq6),
        "dgf_own": plus(own, eq6),
        "dgf_sinkhorn": plus(neighbour, sinkhorn(theta, previous, lam, debiased=False)),
        "dgf_sinkhorn_debiased": plus(neighbour, sinkhorn(theta, previous, lam, debiased=True)),
        "spos_drift": plus(neighbour, times(BETA, score)),
        "sgld_drift": score,
        "blob": plus(score, density_repulsion(theta, h, blob=True)),
        "gfsd": plus(score, density_repulsion(theta, h, blob=False)),
        "gfsf": plus(score, stein_repulsion(theta, h)),
        "released_svgd": neighbour,
        "released_dgf": released_dgf(theta, score, previous, h),
    }


def case(theta, score, previous):
    M = len(theta)
    h = median(costs(theta, theta)) / math.log(M + 1)
    lam = median(costs(theta, previous))
    return {"M": M, "P": len(theta[0]), "h": h, "lam": lam, "gamma": GAMMA, "tau": TAU, "beta": BETA,
            "theta": theta, "score": score, "previous": previous,
            "velocity": velocities(theta, score, previous, h, lam)}


def cases():
    """Six decimals, so that the clouds do not depend on the last digit of a platform's logarithm."""
    normal = random.Random(2018)

    def cloud(M, P, sd, around=None):
        return [[round((around[i][l] if around else 0) + normal.gauss(0, sd), 6) for l in range(P)] for i in range(M)]

    out = []
    for M, P in SHAPES:
        theta = cloud(M, P, 1)
        out.append(case(theta, cloud(M, P, 1), cloud(M, P, 0.3, around=theta)))
    return out


def numbers(value, path=""):
    if isinstance(value, dict):
        for key, x in value.items():
            yield from numbers(x, f"{path}.{key}")
    elif isinstance(value, list):
        for i, x in enumerate(value):
            yield from numbers(x, f"{path}[{i}]")
    else:
        yield path, value


def check(name, wanted):
    with open(name) as file:
        found = dict(numbers(json.load(file)))
    wanted = dict(numbers(wanted))
    if found.keys() != wanted.keys():
        return f"{name} has other entries: {sorted(found.keys() ^ wanted.keys())[:5]}"
    for path, x in wanted.items():
        if not abs(found[path] - x) <= 1e-12 * max(1, abs(x)):
            return f"{name}: {path} is {found[path]}, not {x}"
    return ""


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        sys.exit(check(sys.argv[2], cases()) or 0)
    # One line per case
    print("[" + ",\n ".join(json.dumps(c) for c in cases()) + "]")
