"""What else a careful reader of the paper and its published configuration should know; none of it is computed here."""

from denots.experiments.check import Check

OBSERVATIONS: tuple[Check, ...] = tuple(
    Check(topic, paper, found, "noted")
    for topic, paper, found in (
        (
            "Missing values on Sepsis",
            "Zeros for all models",
            "Only the neural ODEs got zeros, which show where values are missing; the discrete systems got carried values, "
            "which hide it. Sepsis is the only data set with a significant lead. See the experiment on imputation.",
        ),
        (
            "One assumption, three virtues",
            "Anti-phase feedback is stable, bounded in error and remembers",
            "Stability, error bounds and forgetting are proved under the same assumption: where there are guarantees it forgets, "
            "where it remembers there are none. See the experiment on memory.",
        ),
        (
            "Monte-Carlo test of the gap assumption",
            "Passes 1,000 iterations in float64",
            "The kernel matrix is singular in float64 for all but short sequences, so the test as written cannot have run. See the experiment on gaps.",
        ),
        (
            "Forgetting by synchronous feedback",
            "It always forgets prior values",
            "GRU(x, h) - h is (1 - z)(n - h): a gate z near one stops the decay. The bound on the rate is not bounded away from zero. "
            "See the experiments on SineMix and memory.",
        ),
        (
            "Names of baselines",
            "TempFormer reads times, RoFormer rotates queries and keys, Mamba is a Mamba-2 stack",
            "As published, TempFormer encodes the index, RoFormer rotates the embeddings once, the stacked Mamba has no residuals, "
            "and the forecasting Transformers never see a time stamp. On equal terms (protocol fair) they do what their names say.",
        ),
        (
            "GRU-ODE",
            "Equals synchronous feedback at depth 1",
            "By definition here; the published GRU-ODE-Bayes runs freely between observations and jumps at them.",
        ),
        (
            "Tuning",
            "All systems compared alike",
            "Depth was chosen among six values on the validation split for the stretched ODEs; the baselines were not tuned. "
            "The validation split of UWGL has 24 series, those of SineMix and Sine-2 have 32.",
        ),
        (
            "Early stopping",
            "Not mentioned",
            "The published code stops after three epochs without a better validation score. On Pendulum that is long before "
            "the models are trained, at times before they have begun to learn. See the experiment on the protocol.",
        ),
        (
            "Seeds",
            "Mean over seeded runs",
            "Weights were drawn before the seed was set. Three runs let variance alone make a rank 1: GRU on InsectSound has 0.3 ± 0.2.",
        ),
        (
            "Solver failures",
            "Poor scores of ReLU and no feedback show instability",
            "One series that leaves the finite numbers stopped its whole batch unnoticed, so some of these scores may be artefacts. "
            "Here a series fails alone and is counted.",
        ),
        (
            "Padding",
            "Not mentioned",
            "Trailing gaps of all but the longest series of a batch were extrapolated instead of held, so predictions depended on "
            "batch mates. Here they do not.",
        ),
        (
            "Pendulum-small",
            "Same settings, a smaller training set",
            "Learning rate 1e-2 instead of 1e-3, and validation and test splits shrink, too: 154 test series.",
        ),
        (
            "Sepsis",
            "Early prediction within 72 hours",
            "The label may come from later than the 72 hours seen, training drew classes in equal shares, and values were scaled with all splits.",
        ),
        (
            "Pendulum-Angles",
            "Time is divided by the median span",
            "It was divided by 4 s at a horizon of 10 s, and R2 is lifted by the offset of the unwrapped angle.",
        ),
        (
            "Expressiveness",
            "Proved by differentiating an inequality",
            "The conclusion looks right and the proof can be repaired; constants lose their squares on the way.",
        ),
    )
)
