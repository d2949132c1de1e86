"""The thesis [Michlo2022]_, figure by figure and table by table.

One file per chapter. `experiment` is the study behind a figure, `figure` what all figures share, `claims` with
`comparisons` checks what the thesis says about a figure.
"""
