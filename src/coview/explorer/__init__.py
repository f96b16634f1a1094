"""The explorer: one offline page for a model and its documents; see `coview.explorer.explore`."""
