"""Effects: the only code that touches models, tools, files and the network."""
