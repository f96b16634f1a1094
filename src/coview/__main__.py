"""`python -m coview` is the `coview` command."""

from .cli import main

main()
