import matplotlib
import numpy as np
import pytest
from hypothesis import settings
from service import SHOP, Service

matplotlib.use("Agg")
# The same cases in every run.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("fixed")


@pytest.fixture
def rng():
    return np.random.default_rng(2018)


@pytest.fixture
def service(tmp_path):
    with Service(tmp_path / "store") as running:
        running.ok("PUT", "/v1/bandits/shop", SHOP)
        yield running
