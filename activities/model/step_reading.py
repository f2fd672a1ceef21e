"""What an answer says, be it a text or a step of an agent loop: tool calls, or the answer.

A step has one meaning, whatever form a server knows. "Native" is an answer to tools that were sent as such, "actions"
one to JSON actions, which stand in for them. tests/activities/model/test_step_outcomes.py holds every row against the
client. How a call ends apart from that is in the table of activities.model.

| the server                                 | the form | meaning               | asked |
| ------------------------------------------ | -------- | --------------------- | ----- |
| a call                                     | native   | calls                 | 1     |
| several calls                              | native   | calls                 | 1     |
| a call with text beside it                 | native   | calls                 | 1     |
| a call under `function_call`               | native   | calls                 | 1     |
| a call without an id                       | native   | calls                 | 1     |
| a call with an object for arguments        | native   | calls                 | 1     |
| a call that finished by stop               | native   | calls                 | 1     |
| a call that is written as text             | native   | calls                 | 1     |
| a call of another name, written as text    | native   | answer                | 1     |
| prose                                      | native   | answer                | 1     |
| JSON that is no call                       | native   | answer                | 1     |
| no call and no text                        | native   | INVALID_OUTPUT        | 1     |
| an entry that is no call                   | native   | INVALID_OUTPUT        | 1     |
| a call without a name                      | native   | INVALID_OUTPUT        | 1     |
| too many calls                             | native   | INVALID_OUTPUT        | 1     |
| half a call, finished by length            | native   | OUTPUT_TRUNCATED      | 1     |
| a whole call, finished by length           | native   | OUTPUT_TRUNCATED      | 1     |
| refusal                                    | native   | GUARDRAIL_BLOCKED     | 1     |
| context overflow                           | native   | CONTEXT_OVERFLOW      | 1     |
| 404, model                                 | native   | TOOL_EXECUTION_FAILED | 1     |
| 401                                        | native   | AUTHENTICATION        | 1     |
| 500                                        | native   | PROVIDER_UNAVAILABLE  | 1     |
| an action with calls                       | actions  | calls                 | 2     |
| an action with calls and an answer         | actions  | calls                 | 2     |
| an action with an answer                   | actions  | answer                | 2     |
| a fenced action                            | actions  | calls                 | 2     |
| an action with an object for arguments     | actions  | calls                 | 2     |
| one call in place of an action             | actions  | calls                 | 2     |
| prose in place of an action                | actions  | answer                | 2     |
| an action with neither                     | actions  | INVALID_OUTPUT        | 2     |
| another object                             | actions  | INVALID_OUTPUT        | 2     |
| a cut action                               | actions  | INVALID_OUTPUT        | 2     |
| an action, finished by length              | actions  | OUTPUT_TRUNCATED      | 2     |
| refuses tools and both kinds of JSON       | actions  | calls                 | 4     |

"Asked" counts HTTP requests of a new worker: what a model's server has refused is remembered for the worker's life, so
the next step takes one. Where a request says that the model must answer, calls beside a text do not count.
"""

from activities.model.json_actions import StepAction, read_action
from activities.model.native_calls import native_calls
from activities.model.request import ModelError, ModelRequest
from activities.model.said import Said
from activities.model.written_call import written_call
from harness.errors import ErrorCode


def read_step(message: object, text: str, request: ModelRequest) -> Said:
    """Return what a chat message with this text says.

    Args:
        message: As the client made it of whatever a server sent.
        text: Its text.
        request: What was asked, in the form in which it was put.

    Raises:
        ModelError: INVALID_OUTPUT when it says nothing, or what is no call.
    """
    is_action = request.answer is StepAction and bool(text.strip())
    said = read_action(text, request) if is_action else _native(message, text, request)
    if said.is_empty:
        both = ": neither a call nor an answer" if request.tools else ""
        raise ModelError(ErrorCode.INVALID_OUTPUT, f"the answer is empty{both}")
    return Said(said.text) if request.must_answer and said.text.strip() else said


def _native(message: object, text: str, request: ModelRequest) -> Said:
    if calls := native_calls(message, request):
        return Said(text, calls)
    written = written_call(text, request) if request.tools and not request.must_answer else None
    return Said("", (written,)) if written else Said(text)
