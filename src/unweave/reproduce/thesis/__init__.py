"""The thesis [Michlo2022]_, figure by figure and table by table.

One file a chapter; `experiment.py` is what a figure is drawn from, `figure.py` what all figures share.
"""
