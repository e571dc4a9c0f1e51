"""From signal and state to a slope."""

from denots.fields.cde import ControlledField
from denots.fields.field import AffineInputField, Kernel, VectorField
from denots.fields.gru import AntiFeedbackGRU, NoFeedbackGRU, SyncFeedbackGRU
from denots.fields.mlp import ReLUField, TanhField
from denots.registry import Registry

FIELDS: Registry[type[VectorField]] = Registry(
    "field",
    {
        "anti": AntiFeedbackGRU,
        "sync": SyncFeedbackGRU,
        "none": NoFeedbackGRU,
        "tanh": TanhField,
        "relu": ReLUField,
    },
)

__all__ = [
    "FIELDS",
    "AffineInputField",
    "AntiFeedbackGRU",
    "ControlledField",
    "Kernel",
    "NoFeedbackGRU",
    "ReLUField",
    "SyncFeedbackGRU",
    "TanhField",
    "VectorField",
]
