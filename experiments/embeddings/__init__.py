"""Sentence embeddings as a view: what their codes add to words."""
