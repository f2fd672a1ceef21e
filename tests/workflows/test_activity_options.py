from datetime import timedelta

from harness.catalog import Backoff
from workflows.activity_options import retries


def test_a_lost_worker_is_waited_for_as_the_tool_says() -> None:
    policy = retries(4, Backoff(first=timedelta(seconds=20), limit=timedelta(minutes=5)))

    assert policy.initial_interval == timedelta(seconds=20)
    assert policy.maximum_interval == timedelta(minutes=5)
    assert policy.maximum_attempts == 4


def test_without_a_word_the_wait_is_a_second_doubling_to_thirty() -> None:
    policy = retries(3)

    assert policy.initial_interval == timedelta(seconds=1)
    assert policy.maximum_interval == timedelta(seconds=30)
    assert policy.backoff_coefficient == 2.0
    assert policy.maximum_attempts == 3
