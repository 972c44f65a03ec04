"""Opens the models that the settings name: each adapter is imported only when it is chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from agent.errors import Misconfigured
from agent.ports import Clock
from handlers.settings import DEFAULT_CLAUDE, OFFLINE, Settings

if TYPE_CHECKING:
    from agent.ports import Model

Close = Callable[[], Awaitable[None]]

OFFLINE_PACE = 0.015
"""Seconds between two pieces of the offline model's text, so that a person sees it stream."""
_BEDROCK = "bedrock/"
_CLAUDE = "claude"


def check_name(settings: Settings) -> None:
    """Refuse a name that nothing here answers to, before anything is started for it.

    Raises:
        Misconfigured: the chosen model is unknown; the text lists what there is.
    """
    name = settings.chosen_model
    if name == OFFLINE or name.startswith(_BEDROCK) or _CLAUDE in name.lower():
        return
    if not settings.openai_base_url:
        raise _unknown(name, settings)


def open_model(settings: Settings, clock: Clock) -> tuple[Model, Close]:
    """The model that answers, with the ones for pictures and small tasks beside it when set.

    Raises:
        Misconfigured: a model is unknown, can not do what it is set for, or lacks its settings.
    """
    if settings.openai_base_url and settings.chosen_model == OFFLINE and not settings.model:
        raise Misconfigured(
            "PLUMBLINE_OPENAI_BASE_URL is set: name one of that server's models in PLUMBLINE_MODEL."
        )
    light, close_light = _light(settings, clock)
    answer, close_answer = _open(settings.chosen_model, settings, clock, light)
    if not answer.capability().tools:
        raise Misconfigured(
            f"PLUMBLINE_MODEL={settings.chosen_model!r} can not call tools, so it can not search."
            " Choose another, or correct it in PLUMBLINE_MODEL_CAPABILITIES."
        )
    if settings.vision_model in ("", settings.chosen_model):
        return answer, _all(close_answer, close_light)
    vision, close_vision = _open(settings.vision_model, settings, clock, light)
    if not vision.capability().images:
        raise Misconfigured(
            f"PLUMBLINE_VISION_MODEL={settings.vision_model!r} takes no pictures."
            " Choose another, or correct it in PLUMBLINE_MODEL_CAPABILITIES."
        )
    from agent.models.sighted import SightedModel

    return SightedModel(answer, vision), _all(close_answer, close_vision, close_light)


def _light(settings: Settings, clock: Clock) -> tuple[Model | None, Close]:
    """The model for small tasks; None where the one that answers does them."""
    if settings.light_model in ("", settings.chosen_model):
        return None, _nothing
    if settings.light_model == OFFLINE:
        raise Misconfigured(
            "PLUMBLINE_LIGHT_MODEL=offline can only quote. Name a model that writes, or leave it"
            " empty: then the one that answers does the small tasks too."
        )
    return _open(settings.light_model, settings, clock, None)


def _all(*closes: Close) -> Close:
    async def close() -> None:
        for one in closes:
            await one()

    return close


def _open(name: str, settings: Settings, clock: Clock, light: Model | None) -> tuple[Model, Close]:
    if name == OFFLINE:
        from agent.models.offline.model import OfflineModel

        return OfflineModel(clock, OFFLINE_PACE), _nothing
    from agent.models.catalogue import capability

    about = capability(name, settings.model_capabilities)
    if name.startswith(_BEDROCK):
        from agent.models.claude.bedrock import BedrockModel

        bedrock = BedrockModel(about=about, region=settings.aws_region)
        return bedrock, bedrock.aclose
    if _CLAUDE in name.lower():
        from agent.models.claude.client import BASE_URL, AnthropicModel

        claude = AnthropicModel(
            api_key=settings.anthropic_api_key,
            model=name,
            base_url=settings.anthropic_base_url or BASE_URL,
            window=about.window,
            images=about.images,
        )
        return claude, claude.aclose
    if settings.openai_base_url:
        from agent.models.openai_compatible.client import OpenAICompatibleModel

        other = OpenAICompatibleModel(
            base_url=settings.openai_base_url,
            about=about,
            api_key=settings.openai_api_key,
            light=light,
        )
        return other, other.aclose
    raise _unknown(name, settings)


def _unknown(name: str, settings: Settings) -> Misconfigured:
    offered = [one for one in settings.offered_models if one != name]
    names = dict.fromkeys((OFFLINE, *offered, DEFAULT_CLAUDE, "any other Claude name"))
    return Misconfigured(
        f"The model {name!r} is unknown. There are: {', '.join(names)}, bedrock/NAME, and with"
        " PLUMBLINE_OPENAI_BASE_URL every model of that server."
    )


async def _nothing() -> None:
    """The offline model has nothing to close."""
