"""Findings: what the guardrails of one activity have found so far, as its reply tells it."""

from harness.guardrail import MAX_DETAIL_CHARS, MAX_FLAGS, Flag, Guardrail, GuardReport


class Findings:
    """Sums up the checks of one activity."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._ran: set[Guardrail] = set()
        self._flags: dict[Flag, None] = {}
        self._corrections = 0
        self._ungrounded: tuple[str, ...] = ()

    def ran(self, guardrail: Guardrail) -> None:
        """Note that a guardrail has run."""
        self._ran.add(guardrail)

    def flag(self, flag: Flag) -> None:
        """Note something found; the same thing in the same place counts once."""
        self.ran(flag.guardrail)
        self._flags[flag.model_copy(update={"detail": flag.detail[:MAX_DETAIL_CHARS]})] = None

    def correct(self) -> None:
        """Note that an answer was asked for once more."""
        self._corrections += 1

    def unground(self, figures: tuple[str, ...]) -> None:
        """Note the figures of an answer that come from nowhere."""
        self._ungrounded = tuple(dict.fromkeys((*self._ungrounded, *figures)))

    @property
    def names(self) -> tuple[Guardrail, ...]:
        """Return the guardrails that have run, in the order of the chain."""
        return tuple(guardrail for guardrail in Guardrail if guardrail in self._ran)

    @property
    def report(self) -> GuardReport | None:
        """Return the sum, None while nothing has run."""
        if not self._ran:
            return None
        flags = tuple(self._flags)
        told: dict[str, object] = {
            "flags": flags[:MAX_FLAGS],
            "flags_untold": max(0, len(flags) - MAX_FLAGS),
            "corrections": self._corrections,
            "ungrounded": self._ungrounded[:MAX_FLAGS],
        }
        return GuardReport.model_validate({"ran": self.names, **{name: value for name, value in told.items() if value}})
