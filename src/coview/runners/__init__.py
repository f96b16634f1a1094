"""Runners: how blocks of documents are worked on in parallel."""
