"""Which adapter a model's name opens, and what an operator is told when none fits."""

from __future__ import annotations

import pytest

from agent.errors import Misconfigured
from agent.models.claude.bedrock import BedrockModel
from agent.models.claude.client import AnthropicModel
from agent.models.offline.model import OfflineModel
from agent.models.openai_compatible.client import OpenAICompatibleModel
from agent.models.sighted import SightedModel
from agent.stores.system_clock import SystemClock
from handlers.models import open_model
from handlers.settings import Settings

ADDRESS = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("settings", "kind", "name"),
    [
        (Settings(), OfflineModel, "offline"),
        (Settings(anthropic_api_key="k"), AnthropicModel, "claude-sonnet-5-5"),
        (Settings(anthropic_api_key="k", model="offline"), OfflineModel, "offline"),
        (Settings(model="qwen3:8b", openai_base_url=ADDRESS), OpenAICompatibleModel, "qwen3:8b"),
        (
            Settings(model="claude-x", anthropic_api_key="k", openai_base_url=ADDRESS),
            AnthropicModel,
            "claude-x",
        ),
    ],
)
async def test_the_name_decides_the_adapter(settings: Settings, kind: type, name: str) -> None:
    model, close = open_model(settings, SystemClock())
    assert isinstance(model, kind)
    assert model.capability().name == name
    await close()


async def test_a_bedrock_name_opens_bedrock_in_its_region() -> None:
    pytest.importorskip("boto3")
    settings = Settings(model="bedrock/anthropic.claude-x", aws_region="eu-case-1")
    model, close = open_model(settings, SystemClock())
    assert isinstance(model, BedrockModel)
    await close()


async def test_a_model_for_pictures_stands_beside_the_one_for_words() -> None:
    settings = Settings(
        model="deepseek-chat",
        vision_model="house-eyes",
        openai_base_url=ADDRESS,
        model_capabilities="house-eyes: images=yes",
    )
    model, close = open_model(settings, SystemClock())
    assert isinstance(model, SightedModel)
    assert model.capability().images
    await close()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (Settings(model="qwen3:8b"), "PLUMBLINE_OPENAI_BASE_URL"),
        (Settings(openai_base_url=ADDRESS), "PLUMBLINE_MODEL"),
        (Settings(model="claude-x"), "ANTHROPIC_API_KEY"),
        (Settings(model="llava", openai_base_url=ADDRESS), "can not call tools"),
        (
            Settings(model="qwen3:8b", vision_model="qwen3:14b", openai_base_url=ADDRESS),
            "takes no pictures",
        ),
        (Settings(anthropic_api_key="k", light_model="offline"), "PLUMBLINE_LIGHT_MODEL"),
        (Settings(anthropic_api_key="k", light_model="qwen3:8b"), "PLUMBLINE_OPENAI_BASE_URL"),
    ],
)
def test_what_can_not_work_names_its_setting(settings: Settings, named: str) -> None:
    with pytest.raises(Misconfigured, match=named):
        open_model(settings, SystemClock())
