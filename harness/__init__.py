"""Pure rules of a run: data in, data out. No clock, randomness, environment, I/O, asyncio or temporalio."""
