"""coview against other topic models: seconds to equal held-out perplexity, and memory.

`python -m benchmarks.peers --help` says what can be run; the page is docs/benchmarks.md.
"""
