"""Engines: they run a study's tasks in processes on this machine, on a Ray cluster or as Slurm jobs.

`table` lists the engines by name, with their options. `local`; `ray` with `transfer` (folders as bytes); `slurm` with
`queues`. They share `node`, `tries` and `threads`.
"""
