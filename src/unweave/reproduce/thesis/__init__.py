"""The thesis [Michlo2022]_, figure by figure and table by table.

There is one file per chapter; `experiment.py` is the study behind a figure, `figure.py` what all figures share.
"""
