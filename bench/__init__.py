"""Measures Whippletree against a hand-written Temporal workflow, and against peers where they are installed."""
