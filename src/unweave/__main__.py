"""`python -m unweave`."""

from unweave.cli import main

if __name__ == "__main__":
    main()
