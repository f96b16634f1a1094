"""Graphs over documents: nearest neighbors of a view, and adjacency matrices from links."""
