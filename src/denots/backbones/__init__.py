"""From series to states."""

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.denots import DeNOTS
from denots.backbones.latent_ode import LatentODE, LatentODEConfig
from denots.backbones.mamba2 import Mamba2
from denots.backbones.neural_cde import NeuralCDE, NeuralCDEConfig
from denots.backbones.neural_rde import NeuralRDE, NeuralRDEConfig
from denots.backbones.recurrent import GRU, RNN
from denots.backbones.roformer import RoFormer
from denots.backbones.running_denots import RunningDeNOTS
from denots.backbones.running_gru import RunningGRU
from denots.backbones.tempformer import TempFormer
from denots.backbones.trivial import Constant, LastValue
from denots.registry import Registry

BACKBONES: Registry[type[Backbone]] = Registry(
    "backbone",
    {
        "denots": DeNOTS,
        "neural-cde": NeuralCDE,
        "neural-rde": NeuralRDE,
        "latent-ode": LatentODE,
        "rnn": RNN,
        "gru": GRU,
        "running-gru": RunningGRU,
        "running-denots": RunningDeNOTS,
        "tempformer": TempFormer,
        "roformer": RoFormer,
        "mamba2": Mamba2,
        "constant": Constant,
        "last-value": LastValue,
    },
)

__all__ = [
    "BACKBONES",
    "GRU",
    "RNN",
    "Backbone",
    "DeNOTS",
    "Encoded",
    "Inputs",
    "LatentODE",
    "LatentODEConfig",
    "Mamba2",
    "NeuralCDE",
    "NeuralCDEConfig",
    "NeuralRDE",
    "NeuralRDEConfig",
    "RoFormer",
    "RunningDeNOTS",
    "RunningGRU",
    "TempFormer",
]
