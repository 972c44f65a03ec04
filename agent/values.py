"""Values: frozen for the type checker, as cheap as plain slotted classes when the code runs.

A frozen dataclass sets each field through object.__setattr__, which makes it four times as dear to
build; a turn builds about 120 values (ADR 0021).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, dataclass_transform

_T = TypeVar("_T")

if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True, field_specifiers=(field,))
    def value(cls: type[_T]) -> type[_T]:
        """A slotted value; basedpyright refuses every assignment to it."""
        ...

else:
    value = dataclass(slots=True, unsafe_hash=True)
