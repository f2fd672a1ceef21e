from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest

from chaos import __main__ as program
from cli.exit_codes import Refusal


async def test_a_round_that_cannot_be_played_tells_its_own_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def play(*_: object, **__: object) -> None:
        raise Refusal("The Temporal server did not start.")

    monkeypatch.setattr(program, "play", play)

    with pytest.raises(Refusal, match="did not start"):
        await program._play_all([Mock(index=0)], tmp_path, [], parallel=1, limit=timedelta(seconds=1))
