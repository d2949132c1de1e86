"""The numbers that the thesis prints: tables 3.1, 4.1, 4.2 and 6.1."""

from __future__ import annotations

Pair = tuple[float, float]
RANDOM = "random"
FACTOR = "x and y"
"""The label of all factors of xysquares, which are equivalent."""
IMPORTANCE: dict[str, dict[str, Pair]] = {
    "cars3d": {
        "azimuth": (0.0355, 0.0185),
        "object": (0.0349, 0.0176),
        "elevation": (0.0174, 0.0100),
        RANDOM: (0.0519, 0.0188),
    },
    "shapes3d": {
        "wall_hue": (0.1122, 0.0661),
        "floor_hue": (0.1086, 0.0623),
        "object_hue": (0.0416, 0.0292),
        "shape": (0.0207, 0.0161),
        "scale": (0.0182, 0.0153),
        "orientation": (0.0116, 0.0079),
        RANDOM: (0.2432, 0.0918),
    },
    "smallnorb": {
        "lighting": (0.0531, 0.0563),
        "category": (0.0113, 0.0066),
        "azimuth": (0.0090, 0.0071),
        "instance": (0.0068, 0.0048),
        "elevation": (0.0034, 0.0030),
        RANDOM: (0.0535, 0.0529),
    },
    "dsprites": {
        "y": (0.0584, 0.0378),
        "x": (0.0559, 0.0363),
        "scale": (0.0250, 0.0148),
        "shape": (0.0214, 0.0095),
        "orientation": (0.0172, 0.0106),
        RANDOM: (0.0754, 0.0289),
    },
    "xysquares": {FACTOR: (0.0104, 0.0000), RANDOM: (0.0308, 0.0022)},
}
"""Table 3.1: mean and deviation of perceived distances."""
Four = tuple[float, float, float, float]
CORRELATIONS: dict[str, dict[str, Four]] = {
    "cars3d": {
        RANDOM: (0.15, 0.13, 0.04, 0.10),
        "elevation": (0.90, 0.93, 0.69, 0.88),
        "azimuth": (0.30, 0.34, 0.08, 0.25),
        "object": (0.04, 0.04, 0.00, 0.01),
    },
    "shapes3d": {
        RANDOM: (0.53, 0.45, 0.29, 0.29),
        "floor_hue": (0.62, 0.76, 0.60, 0.74),
        "wall_hue": (0.60, 0.74, 0.55, 0.72),
        "object_hue": (0.53, 0.71, 0.41, 0.63),
        "scale": (0.81, 0.88, 0.71, 0.87),
        "shape": (0.69, 0.79, 0.58, 0.80),
        "orientation": (0.84, 0.92, 0.74, 0.87),
    },
    "smallnorb": {
        RANDOM: (0.10, 0.14, 0.07, 0.14),
        "category": (0.44, 0.53, 0.15, 0.47),
        "instance": (0.37, 0.52, 0.10, 0.51),
        "elevation": (0.81, 0.90, 0.51, 0.64),
        "azimuth": (0.12, 0.19, 0.07, 0.21),
        "lighting": (0.07, 0.29, 0.07, 0.28),
    },
    "dsprites": {
        RANDOM: (0.43, 0.38, 0.29, 0.36),
        "shape": (0.66, 0.72, 0.66, 0.87),
        "scale": (0.93, 0.95, 0.84, 0.96),
        "orientation": (0.13, 0.17, 0.15, 0.21),
        "x": (0.66, 0.75, 0.63, 0.83),
        "y": (0.65, 0.75, 0.63, 0.83),
    },
    "xysquares": {RANDOM: (0.55, 0.36, 0.95, 0.94), FACTOR: (0.52, 0.58, 0.96, 0.97)},
}
"""Table 4.1: linear and rank correlation for mse, then for mse-box; those of xysquares are from tables 4.2 and 6.1."""
BY_SPACING: dict[int, Four] = {
    1: (1.00, 1.00, 0.98, 0.99),
    2: (0.94, 0.99, 0.99, 0.99),
    3: (0.86, 0.95, 0.99, 0.99),
    4: (0.75, 0.85, 0.99, 0.99),
    5: (0.72, 0.85, 0.99, 0.99),
    6: (0.67, 0.85, 0.98, 0.98),
    7: (0.60, 0.85, 0.97, 0.98),
    8: (0.52, 0.58, 0.96, 0.97),
}
"""Table 4.2: the same along the factors of xysquares."""
BY_LOSS: dict[str, Four] = {
    "mse": (0.52, 0.58, 0.55, 0.36),
    "mse-gauss, radius 31": (0.84, 0.88, 0.73, 0.61),
    "mse-box, radius 31": (0.96, 0.97, 0.95, 0.94),
    "learnt, radius 31": (0.97, 0.98, 0.96, 0.96),
    "learnt, radius 63": (1.00, 0.99, 1.00, 1.00),
}
"""Table 6.1: linear and rank correlation along factors, then of random pairs."""
