"""The agent of pydantic-ai and its workflow. Imported only where pydantic-ai is installed."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart, UsageLimits
    from pydantic_ai.durable_exec.temporal import PydanticAIWorkflow, TemporalDurability
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from bench import work


async def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Ask for the next call until there were as many as the prompt says."""
    made = sum(1 for message in messages if isinstance(message, ModelResponse))
    wanted = int(str(messages[0].parts[0].content))  # type: ignore[union-attr]
    return ModelResponse(parts=[ToolCallPart("step", {"x": made}) if made < wanted else TextPart("done")])


AGENT = Agent(FunctionModel(answer), name="bench", tools=[work.step], capabilities=[TemporalDurability()])


@workflow.defn
class AgentWorkflow(PydanticAIWorkflow):
    """Runs the agent."""

    __pydantic_ai_agents__ = [AGENT]  # noqa: RUF012 - the plugin's protocol

    @workflow.run
    async def run(self, calls: int) -> str:
        """Make so many calls in a row."""
        result = await AGENT.run(str(calls), usage_limits=UsageLimits(request_limit=None))
        return result.output
