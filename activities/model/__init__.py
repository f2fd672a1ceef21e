"""Models: one client for every OpenAI-compatible server, and the offline model behind the same client.

Whatever a server does has one outcome. Three tries means: as many as the budget grants, at most three, by Temporal and
nobody else; after the last one the class decides. "Told" is what the next planning prompt says about it; a FATAL
outcome ends the run, so nobody is told. With a fallback model, its tries begin after the first failure that is marked
with a star. tests/workflows/test_model_outcomes.py reads this table and holds every row of it against a whole run.

| the server                         | code                  | class      | tries | the planner is told                |
| ---------------------------------- | --------------------- | ---------- | ----- | ---------------------------------- |
| 200, valid                         |                       |            | 1     |                                    |
| 200, fenced                        |                       |            | 1     |                                    |
| 200, JSON of bad syntax            |                       |            | 1     |                                    |
| 200, a cut object                  | INVALID_OUTPUT        | VALIDATION | 1     | not valid JSON                     |
| 200, another object                | INVALID_OUTPUT        | VALIDATION | 1     | nodes: Field required              |
| 200, prose                         | INVALID_OUTPUT        | VALIDATION | 1     | no JSON object in the answer       |
| 200, empty content                 | INVALID_OUTPUT        | VALIDATION | 1     | the answer is empty                |
| 200, null content                  | INVALID_OUTPUT        | VALIDATION | 1     | the answer is empty                |
| 200, a web page                    | INVALID_OUTPUT        | VALIDATION | 1     | the server's answer is no chat     |
| 200, JSON of no use                | INVALID_OUTPUT        | VALIDATION | 1     | the answer is empty                |
| 200, JSON too deep                 | INVALID_OUTPUT        | VALIDATION | 1     | the server's answer is no chat     |
| 200, finished by length            | OUTPUT_TRUNCATED      | VALIDATION | 1     | cut at the limit of                |
| 200, length and null content       | OUTPUT_TRUNCATED      | VALIDATION | 1     | cut at the limit of                |
| 200, length though it looks whole  | OUTPUT_TRUNCATED      | VALIDATION | 1     | cut at the limit of                |
| 200, refusal                       | GUARDRAIL_BLOCKED     | FATAL      | 1     |                                    |
| 200, content filter                | GUARDRAIL_BLOCKED     | FATAL      | 1     |                                    |
| 400, content filter                | GUARDRAIL_BLOCKED     | FATAL      | 1     |                                    |
| 400, context overflow by code      | CONTEXT_OVERFLOW      | FATAL      | 1     |                                    |
| 400, context overflow by text      | CONTEXT_OVERFLOW      | FATAL      | 1     |                                    |
| 413                                | CONTEXT_OVERFLOW      | FATAL      | 1     |                                    |
| 400, unsupported parameter         |                       |            | 1     |                                    |
| 400, anything else                 | TOOL_EXECUTION_FAILED | FATAL      | 1     |                                    |
| 422                                | TOOL_EXECUTION_FAILED | FATAL      | 1     |                                    |
| a redirect                         | TOOL_EXECUTION_FAILED | FATAL      | 1     |                                    |
| 404, model *                       | TOOL_EXECUTION_FAILED | FATAL      | 1     |                                    |
| 401 *                              | AUTHENTICATION        | FATAL      | 1     |                                    |
| 403 *                              | AUTHENTICATION        | FATAL      | 1     |                                    |
| 402 *                              | QUOTA_EXHAUSTED       | FATAL      | 1     |                                    |
| 429, quota *                       | QUOTA_EXHAUSTED       | FATAL      | 1     |                                    |
| 429, throttled *                   | RATE_LIMITED          | TRANSIENT  | 3     | limits the rate or the quota       |
| 408 *                              | TIMEOUT               | TRANSIENT  | 3     | refused the request (HTTP 408)     |
| never answers *                    | TIMEOUT               | TRANSIENT  | 3     | the model gave no answer within    |
| 409 *                              | PROVIDER_UNAVAILABLE  | TRANSIENT  | 3     | refused the request (HTTP 409)     |
| 500 *                              | PROVIDER_UNAVAILABLE  | TRANSIENT  | 3     | the model server failed (HTTP 500) |
| 502 *                              | PROVIDER_UNAVAILABLE  | TRANSIENT  | 3     | the model server failed (HTTP 502) |
| 503 *                              | PROVIDER_UNAVAILABLE  | TRANSIENT  | 3     | the model server failed (HTTP 503) |
| 529 *                              | PROVIDER_UNAVAILABLE  | TRANSIENT  | 3     | the model server failed (HTTP 529) |
| connection reset *                 | PROVIDER_UNAVAILABLE  | TRANSIENT  | 3     | no connection to the model server  |
| connection refused *               | PROVIDER_UNAVAILABLE  | TRANSIENT  | 3     | no connection to the model server  |

An unsupported parameter costs no try: the request is sent again without it, and what a model's server has refused is
remembered for the worker's life. What a step of an agent loop means, which servers tell in several forms, has a table
of its own in activities/model/step_reading.py. A Retry-After of up to a day is heeded, up to 30 s of it; any other is
ignored.
"""
