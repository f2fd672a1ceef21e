"""Durable: deterministic Temporal workflows. They drive; every decision is a call into harness."""
