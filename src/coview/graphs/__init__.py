"""Graphs over documents: nearest neighbors of a view, and links."""
