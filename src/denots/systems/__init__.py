"""Everything that can be fitted, by name. A new system is one file and one line here, or an entry point `denots.systems`."""

from typing import Any

from denots.backbones import BACKBONES
from denots.registry import Registry
from denots.systems.auto import Auto
from denots.systems.cut import Cut
from denots.systems.discriminant import DiscriminantSystem
from denots.systems.forecast import ForecastSystem
from denots.systems.forest import ForestSystem
from denots.systems.linear import ConvolutionsConfig, Linear, OscillatorsConfig, RandomFieldsConfig, SummaryConfig
from denots.systems.logistic import Logistic
from denots.systems.running_trees import RunningTrees
from denots.systems.simple import Simple, SimpleConfig
from denots.systems.system import Fitted, Problem, Shape, State, System
from denots.systems.trained import Trained, TrainedModel
from denots.systems.trees import Trees


def trained(name: str, description: str, backbone: str | None = None, **options: Any) -> Trained:
    """A system that trains a backbone, with some of its options set."""
    kind = BACKBONES.find(backbone or name)
    return Trained(name, kind, description, kind.Config()).with_options(**options)


SYSTEMS: Registry[System] = Registry(
    "system",
    {
        system.name: system
        for system in (
            trained("denots", "DeNOTS: a GRU with anti-phase negative feedback.", field="anti", initial="first"),
            trained("sync", "A GRU with synchronous negative feedback.", "denots", field="sync", initial="first"),
            trained("none", "A GRU without negative feedback.", "denots", field="none", initial="first"),
            trained("tanh", "A two-layer tanh field.", "denots", field="tanh", initial="first"),
            trained("relu", "A two-layer ReLU field.", "denots", field="relu", initial="first"),
            trained(
                "gru-ode",
                "GRU-ODE: synchronous feedback, time not stretched.",
                "denots",
                field="sync",
                depth=1.0,
                initial="first",
            ),
            trained("neural-cde", "Neural CDE: a spline through the observations drives the state."),
            trained("neural-rde", "Neural RDE: log-signatures of depth two over 16 windows drive the state."),
            trained(
                "latent-ode",
                "Latent ODE: a GRU reads the series backwards, an ODE leads from its start to the queries.",
            ),
            trained("rnn", "An Elman network."),
            trained("gru", "A gated recurrent unit."),
            trained(
                "running-gru", "A GRU for answers at any time, told what was seen and how long ago.", max_epochs=14
            ),
            trained("running-denots", "DeNOTS for answers at any time, integrated from row to row.", max_epochs=14),
            trained("tempformer", "A Transformer with temporal positions.", learning_rate=1e-3),
            trained("roformer", "A Transformer with rotary positions.", learning_rate=1e-3),
            trained("mamba2", "Selective state spaces.", learning_rate=1e-3),
            trained("constant", "Knows nothing: the mean of the target, or its most common class."),
            trained("last-value", "A linear model on the latest value of each channel."),
            Trees("trees", "Gradient-boosted trees on summary features of each series (LightGBM)."),
            ForestSystem("forest", "Randomised trees on quantiles of parts of each series."),
            DiscriminantSystem(
                "discriminant",
                "Gaussian curves, one kind a class: how likely would each have drawn the rows that are there?",
            ),
            Linear("summary", "A ridge on statistics of each channel, by rank.", SummaryConfig()),
            Logistic("summary-logistic", "A logistic regression on the same statistics.", SummaryConfig()),
            Linear("oscillators", "A ridge on random damped oscillators that the series drives.", OscillatorsConfig()),
            Linear(
                "timed-oscillators",
                "The same with the clock among what drives them, for when it matters when.",
                OscillatorsConfig(timed=True),
            ),
            Linear("convolutions", "A ridge on short filters that are moved along the series.", ConvolutionsConfig()),
            Linear("fields", "A ridge on random fields that the series drives, untrained.", RandomFieldsConfig()),
            ForecastSystem("forecast", "Forecasts: what departs from the best simple forecast, by ridge and trees."),
            Simple("hold", "Forecasts: the last value of each channel.", SimpleConfig("last value")),
            Simple("recent-mean", "Forecasts: the mean of the last eight.", SimpleConfig("mean of the last eight")),
            Simple("running-mean", "Forecasts: a running mean whose memory is learnt.", SimpleConfig("running mean")),
            Simple("damped-trend", "Forecasts: a trend that fades as learnt.", SimpleConfig("damped trend")),
            RunningTrees("running-trees", "Rows: gradient-boosted trees on the history up to each moment (LightGBM)."),
        )
    },
)

SYSTEMS["cut-denots"] = Cut(
    "cut-denots", "Rows: DeNOTS on each series, cut at the moment in question.", SYSTEMS["denots"]
)

FAST = ("summary", "oscillators", "timed-oscillators", "convolutions", "discriminant")
ALL = (*FAST, "trees", "forest", "denots")
SYSTEMS["fast"] = Auto(
    "fast",
    "The best blend of what has a closed form: a few seconds.",
    {name: SYSTEMS[name] for name in FAST},
    early=("summary", "discriminant"),
    unlikely=("summary", "discriminant"),
)
SYSTEMS["auto"] = Auto(
    "auto",
    "The best blend of all that fits into a budget of time.",
    {name: SYSTEMS[name] for name in ALL},
    early=("summary", "discriminant", "trees"),
    unlikely=("summary", "discriminant", "trees", "denots"),
)
SYSTEMS["running-auto"] = Auto(
    "running-auto",
    "Rows: the best blend of all causal systems that fits into a budget of time.",
    {name: SYSTEMS[name] for name in ("running-trees", "running-gru", "running-denots")},
)

__all__ = ["SYSTEMS", "Fitted", "Problem", "Shape", "State", "System", "Trained", "TrainedModel", "trained"]
