"""Results: what a server returned, as one JSON value."""

import base64
import binascii
import json

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import JsonValue

from activities.model.scrubbing import hide
from activities.tool_artifacts import ToolArtifacts
from harness.errors import ErrorCode, ReportedError, ToolError


async def value_of(result: CallToolResult, artifacts: ToolArtifacts, *, tool: str) -> JsonValue:
    """Return the structured result, else the content: one text as a string, several blocks as a list.

    Images and the like are described by kind, MIME type and size; their bytes are kept as an artifact of the run.

    Raises:
        ReportedError: INVALID_ARGUMENT with the server's own words when the tool says that it failed.
        ToolError: when the result is damaged, or its bytes cannot be kept.
    """
    if result.is_error:
        raise ReportedError(ErrorCode.INVALID_ARGUMENT, f"{tool} failed: {_texts(result)}")
    if "structured_content" in result.model_fields_set and result.structured_content is not None:
        structured: JsonValue = result.structured_content
        return structured
    blocks = [await _block(block, artifacts) for block in result.content]
    if not blocks:
        return None
    return blocks[0] if len(blocks) == 1 else blocks


def without_secrets(value: JsonValue, secrets: tuple[str, ...]) -> JsonValue:
    """Return a value with asterisks for whatever is a secret: a result goes into history and into prompts."""
    if not secrets:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return value if hide(text, secrets) == text else _hidden(value, secrets)


def _hidden(value: JsonValue, secrets: tuple[str, ...]) -> JsonValue:
    match value:
        case str():
            return hide(value, secrets)
        case list():
            return [_hidden(item, secrets) for item in value]
        case dict():
            return {hide(name, secrets): _hidden(item, secrets) for name, item in value.items()}
        case _:
            return value


def _texts(result: CallToolResult) -> str:
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    return "\n".join(texts) or "the server does not say why"


async def _block(block: ContentBlock, artifacts: ToolArtifacts) -> JsonValue:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return await _binary(block.type, block.mime_type, block.data, artifacts)
        case ResourceLink():
            about = {"description": block.description, "mime_type": block.mime_type, "bytes": block.size}
            said: dict[str, JsonValue] = {name: value for name, value in about.items() if value is not None}
            return {"type": block.type, "uri": block.uri, "name": block.name, **said}
        case EmbeddedResource():
            return await _resource(block.type, block.resource, artifacts)


async def _resource(
    kind: str, resource: TextResourceContents | BlobResourceContents, artifacts: ToolArtifacts
) -> JsonValue:
    if isinstance(resource, BlobResourceContents):
        return {**await _binary(kind, resource.mime_type, resource.blob, artifacts), "uri": resource.uri}
    mime_type: dict[str, JsonValue] = {"mime_type": resource.mime_type} if resource.mime_type else {}
    return {"type": kind, "uri": resource.uri, **mime_type, "text": resource.text}


async def _binary(kind: str, mime_type: str | None, data: str, artifacts: ToolArtifacts) -> dict[str, JsonValue]:
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolError(ErrorCode.INVALID_OUTPUT, f"the server returned a {kind} that is not base64") from error
    kept = await artifacts.put(raw)
    return {"type": kind, "mime_type": mime_type or "", "bytes": kept.size, "artifact": kept.digest}
