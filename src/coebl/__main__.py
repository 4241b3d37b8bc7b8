"""`python -m coebl`: the command line, where the script `coebl` is not on the path."""

from coebl.cli import main

if __name__ == "__main__":
    main()
