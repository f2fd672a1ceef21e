"""Models: one client for every OpenAI-compatible server, and the offline model behind the same client."""
