"""A model chosen for the data, with the reasons: `coview.auto`."""
