"""Claude on Amazon Bedrock: the same dialogue through the library's AWS client.

It needs the library's optional part `bedrock` (boto3), which signs requests and reads AWS's own
event stream. Credentials come from AWS's usual chain: profile, role, or AWS_BEARER_TOKEN_BEDROCK.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from importlib.util import find_spec

from anthropic.lib.bedrock import AsyncAnthropicBedrock

from agent.dialogue import Capability, ModelEvent, ModelRequest
from agent.errors import Misconfigured
from agent.models.claude.client import ClaudeModel

PREFIX = "bedrock/"
"""Stands before the model's name in the settings: `bedrock/anthropic.claude-…`."""

_SETTINGS = "the AWS credentials, PLUMBLINE_AWS_REGION, PLUMBLINE_MODEL and the model's access"


class BedrockModel(ClaudeModel):
    """One Claude model of Amazon Bedrock in one region.

    Args of the constructor: `about` names the model with or without PREFIX, as an id, an inference
    profile or an ARN. `base_url` is for a private endpoint, "" for AWS's own. The three key parts
    are for tests and special set-ups; empty ones leave it to AWS's usual chain. `timeout` is the
    longest silence in seconds.

    Raises Misconfigured when the region is missing, or boto3 is.
    """

    def __init__(
        self,
        *,
        about: Capability,
        region: str,
        base_url: str = "",
        access_key: str = "",
        secret_key: str = "",
        timeout: float = 60.0,
    ) -> None:
        if find_spec("boto3") is None:
            raise Misconfigured(
                "Claude on Bedrock needs boto3: install it with `pip install 'anthropic[bedrock]'`."
            )
        if not region:
            raise Misconfigured("Claude on Bedrock needs PLUMBLINE_AWS_REGION, such as eu-west-1.")
        name = about.name.removeprefix(PREFIX)
        client = AsyncAnthropicBedrock(
            aws_region=region,
            base_url=base_url or None,
            aws_access_key=access_key or None,
            aws_secret_key=secret_key or None,
            timeout=timeout,
            max_retries=0,
        )
        super().__init__(client, name, replace(about, name=name), _SETTINGS)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it comes; Misconfigured also when AWS's chain holds no credentials."""
        try:
            async with aclosing(super().stream(request)) as events:
                async for event in events:
                    yield event
        except RuntimeError as err:
            if "credentials" not in str(err).lower():
                raise
            raise Misconfigured(
                f"No AWS credentials were found for Bedrock. Check {_SETTINGS}."
            ) from None
