"""`python -m cw`: the same as the command `cw`."""

from cw.cli import main

if __name__ == "__main__":
    main(prog_name="python -m cw")
