"""The settings with which the trusted side starts the fork server: JSON on its command line.

Read by both sides. Tested in tests/gradekit/untrusted/test_settings.py.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from gradekit.untrusted.landlock_isolation import LandlockPolicy
from gradekit.untrusted.limits import Limits

# The levels of isolation around student code; docs/trust.md says what each of them covers.
Level = Literal["bubblewrap", "landlock", "none"]
LEVELS: tuple[Level, ...] = get_args(Level)


def level_named(name: str) -> Level:
    """The level with this name.

    Raises:
        ValueError: there is none; the message lists the levels.
    """
    for level in LEVELS:
        if name == level:
            return level
    raise ValueError(f"there is no sandbox level {name!r}; choose one of {', '.join(LEVELS)}")


@dataclass(frozen=True)
class ServerSettings:
    """The settings of one fork server.

    Attributes:
        trains: whether to import what only the training of models needs.
        policy: what Landlock allows; given at the level "landlock" and at no other.

    Raises:
        ValueError: the level is unknown, or the policy is missing or belongs to another level.
    """

    level: Level
    limits: Limits
    trains: bool
    policy: LandlockPolicy | None = None

    def __post_init__(self) -> None:
        if (level_named(self.level) == "landlock") != (self.policy is not None):
            raise ValueError(f"level {self.level!r} with the Landlock policy {self.policy}")

    def to_json(self) -> str:
        """The settings as JSON text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ServerSettings:
        """The settings that :meth:`to_json` wrote."""
        values = json.loads(text)
        policy = values["policy"]
        return cls(
            level_named(values["level"]),
            Limits(**values["limits"]),
            values["trains"],
            LandlockPolicy.from_json(policy) if policy is not None else None,
        )
