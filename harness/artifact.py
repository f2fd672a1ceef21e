"""Artifacts: values that travel by reference, because history must not grow with the size of what tools return."""

from pydantic import BaseModel, ConfigDict, Field, JsonValue

INLINE_BYTES = 16_384
"""Largest encoded value that travels inside a message; a larger one goes to the artifact store."""
KEPT_BYTES = 1024
"""Largest encoded result in a page of a run's state; a larger one is put into the store when the state is kept."""
PREVIEW_CHARS = 200


class Artifact(BaseModel):
    """A reference to a value in the artifact store."""

    model_config = ConfigDict(frozen=True)

    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the stored bytes, in hexadecimal."""
    size: int = Field(ge=0)
    """Stored bytes."""
    preview: str = ""
    """How the value begins, as JSON text, for people who look at the history."""


Result = JsonValue | Artifact
"""The result of a node as a run holds it: the value itself, or where it is."""


class StoredResult(BaseModel):
    """The result of a node as it travels; `artifact` is set when the value is in the store."""

    model_config = ConfigDict(frozen=True)

    value: JsonValue = None
    artifact: Artifact | None = None

    @classmethod
    def of(cls, result: Result) -> "StoredResult":
        """Wrap a result."""
        return cls(artifact=result) if isinstance(result, Artifact) else cls(value=result)

    @property
    def result(self) -> Result:
        """Return the value, or the reference to it."""
        return self.value if self.artifact is None else self.artifact


class StoredArgument(BaseModel):
    """Where in the arguments of a call a stored value belongs. Whoever makes the call loads it."""

    model_config = ConfigDict(frozen=True)

    name: str
    index: int | None = None
    """Position in the list that the argument is; None when the argument is the value itself."""
    artifact: Artifact
    path: str = ""
    """RFC 6901 JSON Pointer into the stored value; empty takes all of it."""
