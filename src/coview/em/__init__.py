"""The engine: what a model is (`problem`), one step (`step`), the loop (`loop`) and their parts."""
