"""Clusterings of documents, and what is made of several of them."""
