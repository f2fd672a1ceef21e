"""The ledger keeps every line of any number of processes, and applies an effect once for each key."""

import multiprocessing
from pathlib import Path

from chaos.ledger import Entry, Ledger, What


def line(what: What, key: str) -> Entry:
    return Entry(what=what, key=key, run_id="r", node_id="n", tool="put", try_number=1, arguments="d")


def write_many(path: Path, who: int) -> None:
    ledger = Ledger(path)
    for number in range(20):
        ledger.write(line(What.BEGIN, f"{who}/{number}"))
        ledger.apply_once(line(What.EFFECT, f"shared/{number}"))


def test_processes_that_write_at_once_lose_no_line_and_repeat_no_effect(tmp_path: Path) -> None:
    processes = [
        multiprocessing.get_context("spawn").Process(target=write_many, args=(tmp_path / "l", w)) for w in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    entries = Ledger(tmp_path / "l").entries()
    assert sorted(e.key for e in entries if e.what is What.BEGIN) == sorted(
        f"{w}/{n}" for w in range(2) for n in range(20)
    )
    assert sorted(e.key for e in entries if e.what is What.EFFECT) == sorted(f"shared/{n}" for n in range(20))
    assert len({e.pid for e in entries}) == 2
    assert all(e.at > 0 for e in entries)


def test_an_effect_without_a_key_of_its_own_happens_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l")

    assert [ledger.apply_once(line(What.EFFECT, key)) for key in ("a", "a", "b")] == [True, False, True]
    ledger.write(line(What.EFFECT, "a"))

    assert [e.key for e in ledger.entries()] == ["a", "b", "a"]


def test_a_line_that_is_just_being_written_is_left_out(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l")
    ledger.write(line(What.BEGIN, "a"))
    with (tmp_path / "l").open("a") as file:
        file.write('{"what": "BEG')

    assert [e.key for e in ledger.entries()] == ["a"]
