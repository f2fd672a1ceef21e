"""How an activity ended, read back from Temporal."""

import pytest
from temporalio.exceptions import CancelledError

from workflows.node_outcome import read_failure


@pytest.mark.parametrize("granted", [1, 3])
def test_a_call_that_was_cancelled_before_its_only_try_has_not_begun(granted: int) -> None:
    failure = read_failure(CancelledError("cancelled"), granted_tries=granted)

    assert failure.was_cancelled
    assert failure.was_waiting
    assert failure.has_begun is (granted > 1)
