"""`python -m coebl.cli`."""

from coebl.cli import main

if __name__ == "__main__":
    main()
