"""Measurements, run by hand: `python -m tests.benchmarks`. None is a test: a time proves nothing."""
