"""The commands behind starter.py."""
