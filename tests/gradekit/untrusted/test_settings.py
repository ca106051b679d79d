"""The fork server's settings: read as they were written, and refused if the level is unknown."""

from __future__ import annotations

import json

import pytest

from gradekit.untrusted.landlock_isolation import LandlockPolicy
from gradekit.untrusted.limits import Limits
from gradekit.untrusted.settings import LEVELS, ServerSettings, level_named

POLICY = LandlockPolicy(("/usr", "/lib"), ("/usr",), "/scratch")


@pytest.mark.parametrize("level", LEVELS)
def test_settings_are_read_as_they_were_written(level):
    policy = POLICY if level == "landlock" else None
    settings = ServerSettings(level, Limits(cell_seconds=3, processes=7), True, policy)
    assert ServerSettings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize("name", ["docker", "", "None", None])
def test_an_unknown_level_is_refused(name):
    with pytest.raises(ValueError, match="choose one of bubblewrap, landlock, none"):
        level_named(name)
    with pytest.raises(ValueError, match="choose one of"):
        ServerSettings(name, Limits(), trains=False)
    values = json.loads(ServerSettings("none", Limits(), trains=False).to_json())
    with pytest.raises(ValueError, match="choose one of"):
        ServerSettings.from_json(json.dumps({**values, "level": name}))


def test_a_policy_belongs_to_landlock_and_to_no_other_level():
    with pytest.raises(ValueError, match="landlock"):
        ServerSettings("landlock", Limits(), trains=False)
    for level in ("bubblewrap", "none"):
        with pytest.raises(ValueError, match=level):
            ServerSettings(level, Limits(), False, POLICY)
