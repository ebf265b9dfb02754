import inspect
import json
import os
import re
import subprocess

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pits

DETERMINISTIC = sorted(set(pits.flows.by_name) - {"sgld", "spos"})


# Liu and Wang (2016), Eq. 8, with the median rule h = med²/log(M+1): a plain loop.
def svgd_step(theta, score, step):
    M = len(theta)
    d2 = ((theta[:, None] - theta[None]) ** 2).sum(axis=2)
    h = np.median(d2) / np.log(M + 1)
    velocity = np.zeros_like(theta)
    for i in range(M):
        for j in range(M):
            k = np.exp(-d2[i, j] / h)
            velocity[i] += (k * score[j] + 2 / h * k * (theta[i] - theta[j])) / M
    return theta + step * velocity


@given(st.integers(2, 7), st.integers(1, 4), st.integers(0, 1000))
def test_svgd_is_the_plain_loop(M, P, seed):
    theta = np.random.default_rng(seed).normal(size=(M, P))
    expected = theta
    for _ in range(3):
        expected = svgd_step(expected, 1 - expected, 0.1)
    moved = pits.flows.svgd(lambda t: 1 - t, theta, steps=3, optimizer="sgd", step=0.1)
    np.testing.assert_allclose(moved, expected, rtol=1e-9, atol=1e-12)


# Independent particles ascend the gradient: θ_t = (1 − step)^t θ_0 for a standard normal.
def test_ensemble_ascends():
    theta = np.random.default_rng(0).normal(size=(5, 3))
    moved = pits.flows.ensemble(lambda t: -t, theta, steps=10, optimizer="sgd", step=0.1)
    np.testing.assert_allclose(moved, 0.9**10 * theta, rtol=1e-12)


# SGLD's chain on N(0, I) is θ' = (1 − s)θ + √(2s) ξ, whose stationary variance is 2s/(1 − (1 − s)²).
def test_sgld_has_the_variance_of_its_chain():
    s, n = 0.1, 4000
    moved = pits.flows.sgld(lambda t: -t, np.zeros((n, 1)), steps=100, step=s)
    variance = 2 * s / (1 - (1 - s) ** 2)
    assert abs(moved.var() / variance - 1) < 5 * np.sqrt(2 / n)
    assert abs(moved.mean()) < 5 * np.sqrt(variance / n)


@pytest.mark.parametrize("name", sorted(pits.flows.by_name))
def test_every_flow_comes_to_the_mean(name):
    start = np.random.default_rng(1).normal(size=(30, 2)) * 0.5 - 2
    fields = {"step": 0.02} if name in ("sgld", "spos") else {"tau": 5.0} if name == "dgf-sinkhorn" else {}
    moved = pits.flows.move(name, lambda t: (3.0 - t) / 0.25, start, steps=600, seed=1, **fields)
    np.testing.assert_allclose(moved.mean(axis=0), 3.0, atol=5 * 0.5 / np.sqrt(30))


def test_the_same_seed_gives_the_same_bits():
    start = np.zeros((10, 2))
    one, again, other = (pits.flows.sgld(lambda t: -t, start, steps=20, step=0.1, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_float32_stays_float32_and_agrees(name):
    start = np.random.default_rng(2).normal(size=(8, 3))
    kept = start.copy()
    wide = pits.flows.by_name[name](lambda t: -t, start, steps=5)
    narrow = pits.flows.by_name[name](lambda t: -t, start.astype(np.float32), steps=5)
    assert narrow.dtype == np.float32 and wide.dtype == np.float64
    np.testing.assert_allclose(narrow, wide, atol=1e-3)
    np.testing.assert_array_equal(start, kept)  # the caller's particles stay where they are


def test_one_particle_at_a_time_and_callbacks():
    seen = []
    start = np.random.default_rng(3).normal(size=(6, 2))
    one = pits.flows.svgd(lambda t: -t, start, steps=4, batched=False, callback=lambda t, p: seen.append((t, p)))
    np.testing.assert_array_equal(one, pits.flows.svgd(lambda t: -t, start, steps=4))
    assert [t for t, _ in seen] == [1, 2, 3, 4]
    np.testing.assert_array_equal(seen[-1][1], one)


@pytest.mark.parametrize("call, message", [
    (lambda: pits.flows.svgd(lambda t: -t, np.zeros(3)), r"must have the shape \(M, P\)"),
    (lambda: pits.flows.svgd(lambda t: -t, [[np.nan]]), "finite"),
    (lambda: pits.flows.svgd(lambda t: t[0], np.zeros((3, 2))), "batched=False"),
    (lambda: pits.flows.svgd(lambda t: t * np.inf, np.ones((3, 2))), "not finite at step 0"),
    (lambda: pits.flows.svgd(lambda t: -t, np.zeros((3, 2)), bandwith=1.0), "has no field 'bandwith'"),
    (lambda: pits.flows.svgd(lambda t: -t, np.zeros((3, 2)), bandwidth=-1.0), "bandwidth"),
    (lambda: pits.flows.sgld(lambda t: -t, np.zeros((3, 2)), optimizer="adam"), "optimizer=sgd"),
    (lambda: pits.flows.move("svdg", lambda t: -t, np.zeros((3, 2))), "did you mean 'svgd'"),
])
def test_bad_input_is_refused(call, message):
    with pytest.raises(pits.InputError, match=message):
        call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("theta, score, message", [
    ((3, 2), (2, 2), r"score must have the shape \(3, 2\), not \(2, 2\)"),
    ((3, 2), (3, 1), r"not \(3, 1\)"),
    ((3, 2), (2, 3), r"not \(2, 3\)"),
    ((3, 2), (6,), r"not \(6,\)"),
    ((6,), (6,), r"theta must have the shape \(M, P\), not \(6,\)"),
    ((0, 2), (0, 2), r"theta must have the shape \(M, P\), not \(0, 2\)"),
])
def test_a_step_takes_scores_of_the_shape_of_its_particles(dtype, theta, score, message):
    mover = {np.float32: pits._pits.Mover32, np.float64: pits._pits.Mover64}[dtype]({}, {"step": "0.5"}, 0)
    particles = np.ones(theta, dtype)
    with pytest.raises(pits.InputError, match=message):
        mover.step(particles, np.ones(score, dtype))
    assert (particles == 1).all()


# Moments of Adam and the particles of the step before are those of one shape.
def test_a_mover_goes_on_with_particles_of_the_shape_it_began_with():
    mover = pits._pits.Mover64({"flow": "dgf"}, {"optimizer": "adam"}, 0)
    mover.step(np.eye(3), np.ones((3, 3)))
    for shape in (4, 3), (3, 4), (2, 3):
        with pytest.raises(pits.InputError, match=r"theta must have the shape \(3, 3\)"):
            mover.step(np.ones(shape), np.ones(shape))
    mover.step(np.eye(3), np.ones((3, 3)))


@pytest.mark.skipif(not os.environ.get("PITS_PROGRAM"), reason="PITS_PROGRAM does not name the program")
@pytest.mark.parametrize("flow", pits.flows.by_name)
def test_the_defaults_are_those_of_the_command_line(flow, tmp_path):
    page = tmp_path / "page.html"
    subprocess.run([os.environ["PITS_PROGRAM"], "sample", "--flow", flow, "--particles", "2", "--iterations", "1",
                    "--out", page], check=True, capture_output=True)
    data = re.search(r'id="pits-data">(.*?)</script>', page.read_text(), re.DOTALL).group(1)
    settings = json.loads(data)["settings"]
    parameters = inspect.signature(pits.flows.by_name[flow]).parameters
    said = {field["name"]: parameters[pits._fields.to_keyword(field["name"])].default for field in pits.flows.FIELDS}
    assert said == {field["name"]: pits._fields.to_value({**field, "value": settings[field["name"]]})
                    for field in pits.flows.FIELDS}

    # And what is said is what is done.
    start = np.random.default_rng(0).normal(size=(3, 2))
    np.testing.assert_array_equal(pits.flows.by_name[flow](lambda t: -t, start, steps=3),
                                  pits.flows.by_name[flow](lambda t: -t, start, steps=3,
                                                          **{pits._fields.to_keyword(k): v for k, v in said.items()}))
