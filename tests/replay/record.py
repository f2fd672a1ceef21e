"""Record the histories anew: python -m tests.replay.record [NAME ...]. Only for paths that are new or not released."""

import asyncio
import sys

from tests.replay.histories import fetch_chain, write
from tests.replay.scenarios import LONG_HISTORY, SCENARIOS
from tests.temporal_server import dev_server


async def main(names: list[str]) -> None:
    """Run the scenarios and store their histories."""
    async with dev_server(f"limit.historyCount.suggestContinueAsNew={LONG_HISTORY}") as environment:
        for name in names or SCENARIOS:
            handle = await SCENARIOS[name](environment.client)
            chain = await fetch_chain(environment.client, handle)
            write(name, chain)
            print(f"{name}: {', '.join(str(len(history.events)) for history in chain)} events")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
