"""The frame of an agent loop: what no step changes. It is written once, and steps refer to it."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from activities.model.request import ToolOffer
from harness.catalog import JsonSchema, ToolSpec
from harness.conversation import Evidence


class OfferedTool(BaseModel):
    """A tool as the model is offered it."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str
    parameters: JsonSchema

    @property
    def offer(self) -> ToolOffer:
        """Return it as a model request has it."""
        return ToolOffer(self.name, self.description, self.parameters)


class Frame(BaseModel):
    """The goal and the tools of a loop; private values are placeholders."""

    model_config = ConfigDict(frozen=True)

    goal: str
    tools: tuple[OfferedTool, ...]
    guidance: str = ""
    """The toolkit's advice."""
    given: str = ""
    """Data beside the goal as JSON text, cut where it is too long for a prompt; empty when there is none."""
    evidence: Evidence = Field(default_factory=Evidence)
    """The figures of the goal and of all data beside it."""

    @property
    def offers(self) -> tuple[ToolOffer, ...]:
        """Return the tools as a model request has them."""
        return tuple(tool.offer for tool in self.tools)


def described(tools: Sequence[ToolSpec]) -> tuple[OfferedTool, ...]:
    """Return tools as a model is offered them."""
    return tuple(
        OfferedTool(name=tool.name, description=tool.description, parameters=tool.parameters) for tool in tools
    )
