import pytest

from workflows.task_queue import is_private, private_task_queue, task_queue, toolkit_of


@pytest.mark.parametrize("toolkit", ["games", "tests.slow_toolkit:TOOLKIT"])
def test_queue_names_its_toolkit_and_whether_it_is_of_one_run(toolkit: str) -> None:
    public, private = task_queue(toolkit), private_task_queue(toolkit, "run-1")

    assert (public, private) == (f"whippletree.{toolkit}", f"whippletree.{toolkit}/run-1")
    assert (toolkit_of(public), toolkit_of(private)) == (toolkit, toolkit)
    assert (is_private(public), is_private(private)) == (False, True)


def test_toolkit_that_cannot_exist_is_not_taken_for_another() -> None:
    assert toolkit_of(private_task_queue("games/x", "run-1")) == "games/x"
