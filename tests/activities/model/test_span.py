from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from activities.model.client import OpenAIModel
from activities.model.request import ModelError, ModelRequest
from activities.settings import WorkerSettings
from tests.activities.model.asking import KEY, request_for
from tests.activities.model.stepping import call, calling, step_request
from tests.scripted_model import Reply, ScriptedServer, completion, error


async def _span_of(server: ScriptedServer, request: ModelRequest | None = None) -> ReadableSpan:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url), tracer_provider=provider)
    try:
        await client.ask(request or request_for())
    except ModelError:
        pass
    finally:
        await client.close()
    [span] = exporter.get_finished_spans()
    return span


async def test_a_request_is_one_span_of_the_genai_conventions() -> None:
    async with ScriptedServer(Reply(body=completion("Hello."))) as server:
        span = await _span_of(server)

    assert span.name == "chat gpt-4.1-mini"
    assert span.kind is SpanKind.CLIENT
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1-mini",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.response.model": "scripted-1",
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 7,
    }


async def test_a_span_says_how_many_tokens_were_cached_and_how_many_were_reasoning() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    async with ScriptedServer(Reply(body=completion("Hello.", usage=usage))) as server:
        attributes = (await _span_of(server)).attributes or {}

    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 4
    assert attributes["gen_ai.usage.reasoning.output_tokens"] == 3


async def test_the_span_of_a_step_says_how_many_tools_were_offered_and_called_and_nothing_of_their_content() -> None:
    async with ScriptedServer(calling(call(), call(call_id="c2"))) as server:
        attributes = (await _span_of(server, step_request())).attributes or {}

    assert attributes["whippletree.tools_offered"] == 2
    assert attributes["whippletree.tool_calls"] == 2
    assert "cats" not in str(attributes)


async def test_a_failed_request_is_a_span_with_its_error_type_and_no_secret() -> None:
    async with ScriptedServer(Reply(401, error(f"Incorrect API key provided: {KEY}"))) as server:
        span = await _span_of(server)

    assert (span.attributes or {})["error.type"] == "AUTHENTICATION"
    assert span.status.status_code is StatusCode.ERROR
    assert not span.events
    assert KEY not in span.to_json()
