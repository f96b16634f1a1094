"""Tests of the number of topics."""
