"""Views in files, for data that are larger than memory: format, writing, reading in parts."""
