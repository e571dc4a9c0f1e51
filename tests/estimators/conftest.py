import pytest

from denots.estimators import DeNOTSRegressor
from wave_series import LEARNS, waves


@pytest.fixture(scope="session")
def regressor() -> DeNOTSRegressor:
    return DeNOTSRegressor(**LEARNS).fit(waves(60))
