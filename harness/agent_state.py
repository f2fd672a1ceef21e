"""The rules of an agent loop: how it stands, and what it does next. Pure: the workflow performs the effects."""

from copy import deepcopy
from dataclasses import dataclass, field

from harness import loop_notes
from harness.agent_carry import AgentCarry
from harness.call_check import MAX_CALLS, CallRules, too_many
from harness.context_watch import ContextWatch
from harness.errors import ErrorCode, bounded
from harness.loop import LoopStatus
from harness.loop_calls import CallResult, StepReply, SummariseReply, ToolCall
from harness.loop_detection import Progress, RepeatedCalls, call_key
from harness.loop_effects import Ask, Closing, Effect, End, Hinted, Refused, RunCalls, Summarise, Told
from harness.loop_options import LoopOptions
from harness.loop_verdicts import MAX_REASON_CHARS, closing_of, judge_idleness, judge_repeat, judge_steps
from harness.made_writes import MadeWrites
from harness.memory import MEMORY_NAMES
from harness.step_calls import StepCalls

MAX_NOTES = 5
"""Notes that wait for the model, beside the closing one."""
_UNUSABLE = frozenset({ErrorCode.INVALID_OUTPUT, ErrorCode.OUTPUT_TRUNCATED})


@dataclass
class AgentState:
    """An agent loop as its rules see it. The workflow owns it and tells it what has happened."""

    options: LoopOptions
    rules: CallRules
    context: ContextWatch
    newest: StepCalls = field(default_factory=StepCalls)
    repeated: RepeatedCalls = field(default_factory=RepeatedCalls)
    progress: Progress = field(default_factory=Progress)
    writes: MadeWrites = field(default_factory=MadeWrites)
    step: int = 1
    """The step that is asked next; a closing call does not raise it."""
    notes: list[str] = field(default_factory=list)
    """What the model is told next."""
    failed_answers: int = 0
    is_corrected: bool = False
    """Whether the one corrective round was asked for."""
    draft: str | None = None
    """The answer that was to be corrected: better than none."""
    closing: Closing | None = None
    end: End | None = None

    @classmethod
    def begin(
        cls, options: LoopOptions, rules: CallRules, context_tokens: int, *, written: tuple[str, ...] = ()
    ) -> "AgentState":
        """Return the state before the first step.

        `context_tokens` is the estimate of the first prompt, `written` are keys of what the run has written before.
        """
        context = ContextWatch(context_tokens, options.hard_context_tokens)
        return cls(options, rules, context, writes=MadeWrites(list(written)))

    @classmethod
    def resume(cls, carry: AgentCarry, options: LoopOptions, rules: CallRules) -> "AgentState":
        """Take up what `carry` gave."""
        kept = {name: deepcopy(getattr(carry, name)) for name in AgentCarry.model_fields}
        return cls(options, rules, **{**kept, "notes": list(carry.notes)})

    def carry(self) -> AgentCarry:
        """Return all of it as it is now."""
        return AgentCarry.model_validate({name: deepcopy(getattr(self, name)) for name in AgentCarry.model_fields})

    @property
    def steps_made(self) -> int:
        """Return how many model calls that could ask for tools have ended."""
        return self.step - 1

    @property
    def context_tokens(self) -> int:
        """Return the estimate of the next prompt, without its new results."""
        return self.context.tokens

    def answered(self, reply: StepReply, *, is_high_pressure: bool = False) -> Told:
        """Take the model's turn; under high pressure an answer is taken as it is, because a correction costs a call."""
        self.context.note_turn(reply.context_tokens)
        self.newest, self.notes = StepCalls(), []
        if self.closing:
            self._finish(self.closing.status, self.closing.reason, answer=reply.answer)
            return ()
        self.step += 1
        if reply.calls:
            return self._take_calls(reply.calls)
        if reply.answer is not None and reply.answer.strip():
            ungrounded = reply.guard.ungrounded if reply.guard and not is_high_pressure else ()
            return self._take_answer(reply.answer, ungrounded)
        return self._take_failure(ErrorCode.INVALID_OUTPUT, reply.problem)

    def model_failed(self, code: ErrorCode, message: str) -> Told:
        """Take note that the model gave no step, whatever was tried. The results wait for the next one."""
        if self.closing:
            self._finish(self.closing.status, self.closing.reason)
        elif code in _UNUSABLE:
            self.step += 1
            return self._take_failure(code, message)
        elif code is not ErrorCode.CONTEXT_OVERFLOW or not self.context.note_overflow():
            self._finish(LoopStatus.FAILED, message, code=code)
        return ()

    def called(
        self, result: CallResult, *, digest: str, is_new_fact: bool = False, may_have_written: bool = True
    ) -> Told:
        """Take the outcome of an accepted call; `digest` identifies its result, which decides what is new."""
        call = self.newest.end(result)
        if call is None:
            return ()
        if not may_have_written:
            self.writes.forget(call, self.rules.tool_of(call))
        if is_new_fact:
            self.progress.note_result(call.tool, call_key(call, result, ""))
        elif result.code is None and call.tool not in MEMORY_NAMES:
            self.progress.note_result(call.tool, digest)
        return (*self._count(call, result, digest), *self._end_step())

    def summarised(self, reply: SummariseReply) -> None:
        """Take note that older steps are replaced by a summary."""
        self.context.note_summary(reply.context_tokens, self.step)

    def summary_failed(self, code: ErrorCode, message: str) -> None:
        """Go on without a summary, and without another try for some steps; end when the prompt stays too long."""
        self.context.pause(self.step)
        if code is ErrorCode.CONTEXT_OVERFLOW and self.context.has_overflowed:
            self.refuse(LoopStatus.FAILED, message, code)

    def refuse(self, status: LoopStatus, reason: str, code: ErrorCode | None = None) -> None:
        """Stop at once: the workflow cannot go on. The first end stands, and so does why the loop was being closed."""
        if self.end is not None:
            return
        if self.closing and status is not LoopStatus.CANCELLED:
            self._finish(self.closing.status, self.closing.reason)
        else:
            self._finish(status, reason, code=code)

    def must_close(self, status: LoopStatus, reason: str) -> None:
        """Let the model, which is not being asked now, answer with what there is, and then stop."""
        self._close(closing_of(status, reason))

    def _take_calls(self, calls: tuple[ToolCall, ...]) -> Told:
        self.failed_answers = 0
        self.repeated.begin_step(self.options.repeat_limit)
        self.newest.order = tuple(call.id for call in calls)
        taken = [each for call in calls[:MAX_CALLS] for each in self._take_call(call)]
        refused = [self._refuse(call, too_many(call)) for call in calls[MAX_CALLS:]]
        return (*taken, *refused, *self._end_step())

    def _take_call(self, call: ToolCall) -> Told:
        refused = self.rules.check(call) or self.writes.begin(call, self.rules.tool_of(call))
        if refused is None:
            self.newest.accept(call)
            return ()
        return (self._refuse(call, refused), *self._count(call, refused, ""))

    def _refuse(self, call: ToolCall, result: CallResult) -> Refused:
        self.newest.refuse(result)
        return Refused(call, result)

    def _count(self, call: ToolCall, result: CallResult, digest: str) -> Told:
        """Look whether a call repeats an earlier one: first a hint, then the end."""
        times = self.repeated.count(call_key(call, result, digest))
        match judge_repeat(result, times, self.options.repeat_limit):
            case Hinted(text) if len(self.notes) < MAX_NOTES:
                return self._hint(text)
            case Closing() as closing:
                return self._close(closing)
            case _:
                return ()

    def _end_step(self) -> Told:
        """Look at a step whose calls have all ended."""
        if self.newest.accepted:
            return ()
        self.progress.end_step()
        closing = judge_idleness(self.progress.idle_steps, self.options)
        return self._close(closing) or self._close_at_limit(LoopStatus.MAX_STEPS_EXCEEDED)

    def _close_at_limit(self, status: LoopStatus) -> Told:
        return self._close(judge_steps(self.step, self.options, status))

    def _take_answer(self, answer: str, ungrounded: tuple[str, ...]) -> Told:
        if not ungrounded or self.is_corrected:
            self._finish(LoopStatus.COMPLETED, "", answer=answer)
            return ()
        self.is_corrected = True
        self.draft = answer
        self.failed_answers = 0
        return (*self._hint(loop_notes.correction_note(ungrounded)), *self._close_at_limit(LoopStatus.COMPLETED))

    def _take_failure(self, code: ErrorCode, problem: str) -> Told:
        self.failed_answers += 1
        if self.failed_answers >= self.options.max_failed_answers:
            self._finish(LoopStatus.FAILED, loop_notes.useless_reason(self.failed_answers, problem), code=code)
            return ()
        hint = self._hint(loop_notes.failed_answer_note(code, problem, self.failed_answers))
        return (*hint, *self._close_at_limit(LoopStatus.MAX_STEPS_EXCEEDED))

    def _hint(self, text: str) -> Told:
        self.notes = [*self.notes[1 - MAX_NOTES :], text]
        return (Hinted(text),)

    def _close(self, closing: Closing | None) -> Told:
        if closing is None or self.closing or self.end:
            return ()
        self.closing = closing
        return (closing,)

    def _finish(
        self, status: LoopStatus, reason: str, *, answer: str | None = None, code: ErrorCode | None = None
    ) -> None:
        said = answer if answer and answer.strip() else self.draft
        if self.draft is not None and status is not LoopStatus.CANCELLED:
            status, code = LoopStatus.COMPLETED, None  # That its correction came to nothing takes nothing from it.
        why = "" if status is LoopStatus.COMPLETED else bounded(reason, MAX_REASON_CHARS)
        self.end = End(status, why, said, code)


def next_effect(state: AgentState) -> Effect:
    """Return what a loop does next; the same until the state is told of something."""
    if state.end:
        return state.end
    if calls := state.newest.pending:
        return RunCalls(state.steps_made, calls)
    if state.context.needs_summary(state.step):
        return Summarise()
    closing = (loop_notes.closing_note(state.closing.reason),) if state.closing else ()
    return Ask(state.step, state.newest.results, (*state.notes, *closing), must_answer=bool(closing))
