"""The number of topics: what is measured along candidates, and what it suggests."""
