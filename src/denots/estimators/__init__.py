"""Estimators with scikit-learn manners."""

from denots.estimators.classifier import DeNOTSClassifier
from denots.estimators.folder import load_estimator
from denots.estimators.forecaster import DeNOTSForecaster
from denots.estimators.regressor import DeNOTSRegressor

__all__ = ["DeNOTSClassifier", "DeNOTSForecaster", "DeNOTSRegressor", "load_estimator"]
