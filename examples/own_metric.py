"""A metric of your own: a function of codes and factors; unweave adds its interval, floor and ceiling.

unweave evaluate runs/first --plugin examples/own_metric.py --metrics mig best-r2
"""

import numpy as np

import unweave
from unweave.metrics import Sampled, by_rows, metric


@metric("this example", "explicitness", continuous=True)
def best_r2(codes: np.ndarray, factors: np.ndarray, *, degree: int = 1) -> Sampled[float]:
    """Best R², in [0, 1]: how well does a polynomial of one code predict each factor?"""

    def score(z: np.ndarray, v: np.ndarray) -> float:
        return float(np.mean([max(fit(code, factor) for code in z.T) for factor in v.T]))

    def fit(code: np.ndarray, factor: np.ndarray) -> float:
        if not np.ptp(code) or not np.ptp(factor):
            return 0.0
        features = np.vander((code - code.mean()) / code.std(), degree + 1)
        predicted = features @ np.linalg.lstsq(features, factor, rcond=None)[0]
        return float(1 - np.mean((factor - predicted) ** 2) / np.var(factor))

    return by_rows(score, np.asarray(codes, dtype=float), np.asarray(factors, dtype=float))


def main():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 8, size=(2000, 3))
    codes = factors + rng.normal(size=(2000, 3))

    print(best_r2(codes, factors), best_r2(codes, factors, degree=3))
    table = unweave.evaluate(codes, factors, metrics=["mig", "best-r2"], options={"best-r2": {"degree": 3}})
    print(table.drop("options"))


if __name__ == "__main__":
    main()
