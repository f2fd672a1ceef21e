"""Tools that do nothing, for plans that are never run."""

from enum import StrEnum

from pydantic import BaseModel, JsonValue

from activities.toolkit import Report, tool
from harness.catalog import Effect, ToolRole


class Metric(BaseModel):
    value: float


class LogLine(BaseModel):
    text: str


class Finding(BaseModel):
    cause: str


class Level(StrEnum):
    LOW = "low"
    HIGH = "high"


@tool()
def get_metrics() -> list[Metric]:
    """Read metrics."""
    return []


@tool()
def search_logs(query: str) -> list[LogLine]:
    """Search logs."""
    return []


@tool()
def read_clock() -> str:
    """Read the time."""
    return ""


@tool()
def get_weather() -> Metric:
    """Read the weather."""
    return Metric(value=1)


@tool(role=ToolRole.ANALYSIS)
def analyse(metrics: list[Metric], log_lines: list[LogLine]) -> Finding:
    """Find the cause."""
    return Finding(cause="")


@tool(effect=Effect.WRITE)
def delete_logs() -> list[LogLine]:
    """Delete all logs."""
    return []


@tool(role=ToolRole.FINAL_SYNTHESIS)
def finding_report(question: str, finding: Finding) -> Report:
    """Report on a finding."""
    return Report(report="")


@tool(role=ToolRole.FINAL_SYNTHESIS)
def sources_report(task: str, sources: list[JsonValue]) -> Report:
    """Report on whatever was found."""
    return Report(report="")


@tool(role=ToolRole.FINAL_SYNTHESIS)
def metrics_report(metrics: list[Metric], log_lines: list[LogLine] | None = None, level: Level = Level.LOW) -> Report:
    """Report on metrics, and on logs if there are any."""
    return Report(report="")


@tool(role=ToolRole.FINAL_SYNTHESIS)
def averages_report(averages: list[Metric]) -> Report:
    """Report on single metrics."""
    return Report(report="")


@tool(role=ToolRole.FINAL_SYNTHESIS)
def levelled_report(metrics: list[Metric], level: Level, least: int) -> Report:
    """Report on metrics at a level."""
    return Report(report="")
