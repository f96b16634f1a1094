"""`python -m coview` is the `coview` command."""

from coview.cli import main

main()
