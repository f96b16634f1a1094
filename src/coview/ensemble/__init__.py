"""What clusterings of the views agree on: which views to trust, and where EM begins."""
