"""Penalties: one file for each, and in `base` what the engine asks of them."""
