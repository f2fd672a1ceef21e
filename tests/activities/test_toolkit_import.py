from pathlib import Path

import pytest

from activities.toolkit import ToolkitError
from activities.toolkit_loading import load_toolkit


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(5)", "SystemExit: 5"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
        ("import no_such_thing", "ModuleNotFoundError"),
        ("def", "SyntaxError"),
    ],
)
def test_whatever_a_module_raises_is_a_toolkit_error_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, why: str
) -> None:
    (tmp_path / "broken_kit.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ToolkitError) as caught:
        load_toolkit("broken_kit:TOOLKIT")

    message = str(caught.value)
    assert message.startswith("toolkit 'broken_kit:TOOLKIT': the module 'broken_kit' cannot be imported: ")
    assert why in message
    assert "\n" not in message
