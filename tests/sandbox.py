"""The SDK's sandbox, in which tests run workflow code: it notices what a replay could not repeat."""

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

PASSED_THROUGH = ("harness", "activities", "openai", "httpx2", "opentelemetry", "genai_prices", "obstore")
"""What is pure, or only referred to by workflow code."""
SANDBOX = SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))
