"""Other libraries that make the same no-op calls in a row, each skipped where it is not installed."""
