"""The numbers that the paper prints: mean and spread over its runs."""

Pair = tuple[float, float]

MAIN: dict[str, dict[str, Pair | None]] = {
    "gru": {"uwgl": (0.5, 0.1), "insect-sound": (0.3, 0.2), "pendulum": (0.73, 0.03), "sepsis": (0.838, 0.004)},
    "tempformer": {
        "uwgl": (0.78, 0.03),
        "insect-sound": (0.43, 0.02),
        "pendulum": (0.59, 0.08),
        "sepsis": (0.89, 0.02),
    },
    "roformer": {
        "uwgl": (0.74, 0.04),
        "insect-sound": (0.29, 0.02),
        "pendulum": (0.61, 0.02),
        "sepsis": (0.924, 0.004),
    },
    "mamba2": {"uwgl": (0.71, 0.07), "insect-sound": (0.41, 0.03), "pendulum": (0.61, 0.03), "sepsis": (0.829, 0.004)},
    "gru-ode": {"uwgl": (0.4, 0.3), "insect-sound": (0.18, 0.03), "pendulum": (0.6, 0.05), "sepsis": (0.925, 0.003)},
    "neural-cde": {
        "uwgl": (0.82, 0.03),
        "insect-sound": (0.145, 0.001),
        "pendulum": (0.76, 0.02),
        "sepsis": (0.880, 0.006),
    },
    "neural-rde": {"uwgl": (0.79, 0.03), "insect-sound": (0.212, 0.004), "pendulum": (0.78, 0.03), "sepsis": None},
    "sync": {"uwgl": (0.811, 0.002), "insect-sound": (0.39, 0.09), "pendulum": (0.77, 0.01), "sepsis": (0.932, 0.003)},
    "denots": {"uwgl": (0.82, 0.03), "insect-sound": (0.44, 0.02), "pendulum": (0.79, 0.02), "sepsis": (0.937, 0.005)},
}

RANKS: dict[str, dict[str, int]] = {
    name: dict(zip(("uwgl", "insect-sound", "pendulum", "sepsis"), ranks, strict=True))
    for name, ranks in {
        "denots": (1, 1, 1, 1),
        "sync": (1, 1, 2, 1),
        "tempformer": (4, 1, 6, 5),
        "neural-cde": (1, 8, 2, 5),
        "neural-rde": (1, 6, 1, 9),
        "roformer": (5, 5, 6, 3),
        "gru": (8, 1, 4, 7),
        "mamba2": (6, 1, 6, 8),
        "gru-ode": (8, 7, 6, 3),
    }.items()
}

BUMP: dict[str, tuple[Pair, Pair, Pair]] = {  # default, tolerance, scale
    "tanh": ((0.77, 0.02), (0.90, 0.01), (0.99, 0.00)),
    "relu": ((0.89, 0.01), (0.85, 0.01), (0.91, 0.05)),
}

SINE_MIX = {"rnn": -0.3, "gru": 0.8, "tanh": 1.0, "relu": 1.0, "none": 1.0, "sync": 0.3, "denots": 1.0}

# Pearson and Spearman of evaluations and metric, each for the tolerance and the depth sweep.
CORRELATIONS: dict[str, dict[str, tuple[tuple[float, float], tuple[float, float]]]] = {
    "pendulum": {
        "tanh": ((0.3, -0.6), (0.1, -0.2)),
        "relu": ((0.1, -0.6), (0.4, -0.7)),
        "none": ((0.4, -0.5), (0.4, -0.7)),
        "sync": ((0.4, 0.8), (0.4, 0.7)),
        "denots": ((0.5, 0.9), (0.5, 0.9)),
    },
    "sepsis": {
        "tanh": ((0.3, 0.8), (0.2, 0.7)),
        "relu": ((0.3, -0.09), (0.4, 0.03)),
        "none": ((0.3, -0.1), (0.4, -0.6)),
        "sync": ((0.5, -0.4), (0.4, -0.4)),
        "denots": ((0.5, 0.8), (0.5, 0.7)),
    },
    "sine-2": {
        "tanh": ((0.4, 0.7), (0.6, 0.6)),
        "relu": ((0.07, 0.6), (0.1, 0.5)),
        "none": ((0.09, -0.5), (0.3, -0.3)),
        "sync": ((0.5, 1.0), (0.4, 0.9)),
        "denots": ((0.4, 1.0), (0.3, 1.0)),
    },
}

# Best value of the tolerance and of the depth sweep.
BEST: dict[str, dict[str, tuple[Pair, Pair]]] = {
    "pendulum": {
        "tanh": ((0.697, 0.007), (0.7, 0.09)),
        "relu": ((-20, 20), (-50, 60)),
        "none": ((0.68, 0), (0.65, 0.02)),
        "sync": ((0.68, 0.04), (0.77, 0.01)),
        "denots": ((0.69, 0.03), (0.79, 0.03)),
    },
    "sepsis": {
        "tanh": ((0.919, 0.002), (0.934, 0.002)),
        "relu": ((0.94, 0.002), (0.9364, 0.0007)),
        "none": ((0.923, 0.003), (0.92, 0.01)),
        "sync": ((0.93, 0.004), (0.934, 0.004)),
        "denots": ((0.927, 0.003), (0.937, 0.005)),
    },
    "sine-2": {
        "tanh": ((0.6, 0.04), (0.88, 0.06)),
        "relu": ((0.58, 0.08), (0.7, 0.1)),
        "none": ((0.27, 0.05), (0.46, 0.01)),
        "sync": ((0.47, 0.05), (0.96, 0.03)),
        "denots": ((0.39, 0.02), (0.988, 0.002)),
    },
}

ATTACKS = {  # at drop 0.85 and change 0.01
    "tempformer": (0.16, -0.29),
    "roformer": (0.31, -0.29),
    "mamba2": (0.36, -0.46),
    "neural-cde": (0.02, -0.97),
    "neural-rde": (0.20, -0.11),
    "gru": (0.27, 0.37),
    "none": (0.40, 0.51),
    "sync": (0.64, 0.61),
    "denots": (0.61, 0.64),
}

OVERFITTING: dict[int, dict[str, Pair]] = {
    1: {"test R2": (0.479, 0.006), "test MSE": (0.178, 0.002), "train R2": (0.62, 0.096), "train MSE": (0.124, 0.029)},
    10: {
        "test R2": (0.437, 0.049),
        "test MSE": (0.192, 0.017),
        "train R2": (0.738, 0.115),
        "train MSE": (0.089, 0.043),
    },
}

FORECASTING: dict[str, dict[str, Pair]] = {
    "pendulum-angles": {
        "denots": (0.994, 0.001),
        "neural-cde": (0.985, 0.003),
        "latent-ode": (0.981, 0.002),
        "roformer": (0.979, 0.001),
        "tempformer": (0.961, 0.005),
    },
    "pendulum-angles-regular": {
        "denots": (0.996, 0.001),
        "neural-cde": (0.998, 0.001),
        "latent-ode": (0.996, 0.001),
        "roformer": (0.99, 0.001),
        "tempformer": (0.971, 0.003),
    },
}

PARAMETERS: dict[str, dict[str, int | None]] = {
    "pendulum": dict(
        zip(
            ("denots", "gru", "neural-cde", "neural-rde", "mamba2", "roformer", "tempformer"),
            (3552, 3552, 4352, 7616, 8120, 137664, 137664),
            strict=True,
        )
    ),
    "uwgl": dict(
        zip(
            ("denots", "gru", "neural-cde", "neural-rde", "mamba2", "roformer", "tempformer"),
            (3648, 3648, 5440, 11968, 8152, 137504, 137504),
            strict=True,
        )
    ),
    "insect-sound": dict(
        zip(
            ("denots", "gru", "neural-cde", "neural-rde", "mamba2", "roformer", "tempformer"),
            (3456, 3456, 3264, 4352, 8088, 137632, 137632),
            strict=True,
        )
    ),
    "sepsis": dict(
        zip(
            ("denots", "gru", "neural-cde", "neural-rde", "mamba2", "roformer", "tempformer"),
            (339264, 339264, 3809088, None, 367776, 662080, 662080),
            strict=True,
        )
    ),
}
