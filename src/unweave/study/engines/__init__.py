"""Where tasks are performed: processes on this machine, a Ray cluster, Slurm. One function a file."""
