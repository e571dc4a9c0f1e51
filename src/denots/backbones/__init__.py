"""From series to states."""

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.denots import DeNOTS, DeNOTSConfig

BACKBONES = {
    "denots": DeNOTS,
}

__all__ = ["BACKBONES", "Backbone", "DeNOTS", "DeNOTSConfig", "Encoded", "Inputs"]
