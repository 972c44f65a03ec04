"""Lets a model that sees answer the conversations that hold pictures."""

from __future__ import annotations

from collections.abc import AsyncIterator

from agent.dialogue import Capability, ModelEvent, ModelRequest, Picture
from agent.ports import Model


class SightedModel:
    """`answer` for words, `vision` for requests with a picture that still has its bytes."""

    def __init__(self, answer: Model, vision: Model) -> None:
        self._answer = answer
        self._vision = vision

    def capability(self) -> Capability:
        """What the two can do together, under the name of the model for words."""
        words, sight = self._answer.capability(), self._vision.capability()
        return Capability(words.name, words.tools, sight.images, min(words.window, sight.window))

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The reply of the one that this request is for."""
        seen = any(isinstance(b, Picture) and b.data for m in request.messages for b in m.blocks)
        return (self._vision if seen else self._answer).stream(request)
