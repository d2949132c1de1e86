"""Downstream tasks: how useful a representation is to an agent. The task is to cluster four sprites.

Notes
-----
`clustering` has its rules, on many scenes at once (`Clustering`), `environment` the Gymnasium environment
(`ClusteringEnv`, extra `rl`), `exploration` the policy and what it encounters, `predictor` several reward predictors
trained as one batched network, `efficiency` the steps that one needs to reach an accuracy on frozen codes
(`sample_efficiency`), `over_runs` the table for many runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.late import public_name

if TYPE_CHECKING:
    from unweave.tasks.clustering import Clustering as Clustering
    from unweave.tasks.efficiency import SampleEfficiency as SampleEfficiency
    from unweave.tasks.efficiency import sample_efficiency as sample_efficiency
    from unweave.tasks.environment import ClusteringEnv as ClusteringEnv
    from unweave.tasks.exploration import Experience as Experience
    from unweave.tasks.exploration import experience as experience
    from unweave.tasks.exploration import explore as explore
    from unweave.tasks.over_runs import sample_efficiency_table as sample_efficiency_table
    from unweave.tasks.over_runs import score_clustering as score_clustering
    from unweave.tasks.predictor import Learner as Learner

_HOME = {
    "Clustering": "clustering",
    "ClusteringEnv": "environment",
    "Experience": "exploration",
    "Learner": "predictor",
    "SampleEfficiency": "efficiency",
    "experience": "exploration",
    "explore": "exploration",
    "sample_efficiency": "efficiency",
    "sample_efficiency_table": "over_runs",
    "score_clustering": "over_runs",
}

__all__ = [
    "Clustering",
    "ClusteringEnv",
    "Experience",
    "Learner",
    "SampleEfficiency",
    "experience",
    "explore",
    "sample_efficiency",
    "sample_efficiency_table",
    "score_clustering",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use: only the environment needs Gymnasium."""
    return public_name(__name__, _HOME, name)


def __dir__() -> list[str]:
    return sorted(__all__)
