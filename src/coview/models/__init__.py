"""One file, one paper."""
