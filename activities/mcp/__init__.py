"""Tools of MCP servers: what a servers file names, as toolkits that a worker serves."""
