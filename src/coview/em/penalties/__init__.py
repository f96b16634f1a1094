"""Penalties: what a model adds to the likelihood, as a value and a step for the mixtures."""
