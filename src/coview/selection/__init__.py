"""The number of topics: `select_topics`, what it measures along candidates, and what it suggests."""
