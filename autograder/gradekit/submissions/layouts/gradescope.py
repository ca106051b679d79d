"""Gradescope's "Export Submissions": a folder for each hand-in, and who handed it in beside them.

``assignment_<n>_export/submission_<m>/…`` with one ``submission_metadata.yml``, which Ruby writes:
for each folder ``:submitters:`` (``:name:``, ``:sid:``, ``:email:``), ``:created_at:`` and more.
The hand-in of a group names several. What a student packs under this name is not read.

Tested in tests/gradekit/submissions/test_who_and_when.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC
from pathlib import PurePosixPath
from typing import Any

from gradekit.errors import RefusedError
from gradekit.roster.people import Person
from gradekit.submissions.layouts.listing import Entry, Listing, NotTaken, Reader
from gradekit.submissions.times import NO_TIME, HandInTime, TimeSource
from gradekit.submissions.written_dates import read_date

SYSTEM = "Gradescope"
METADATA = "submission_metadata.yml"
_PREFIX = "submission_"
_MOST_DEPTH = 100
# A thousand students with forty tests each have about as many; building them takes seconds.
_MOST_EVENTS = 1_000_000
_HOME = re.compile(r"submission_\d+")


def is_home(folder: str) -> bool:
    """Whether Gradescope gives such a name to the folder of a hand-in."""
    return bool(_HOME.fullmatch(folder))


def reader(listing: Listing) -> Reader | None:
    """Reads paths of Gradescope's folders, if there are such folders at one outer place."""
    lists = [p for p in listing.paths if p.name == METADATA and listing.is_outer_file(p)]
    submissions = [
        path
        for path in listing.paths
        if any(folder.startswith(_PREFIX) for folder, _ in listing.outer(path))
    ]
    if not lists:
        return _without_list(listing) if len(submissions) == len(listing.paths) else None
    known = submissions_in(listing.read(lists[0]))

    def read(path: PurePosixPath) -> Entry | NotTaken:
        if path in lists:
            return NotTaken("it is Gradescope's own list", expected=True)
        for folder, rest in listing.outer(path):
            if entry := known.get(folder):
                people, time = entry
                if not people:
                    return NotTaken(f"{METADATA} names no student for {folder}")
                return Entry(SYSTEM, people, rest, folder, time=time, dated=False)
        return NotTaken(f"{METADATA} does not list its folder")

    return read


def _without_list(listing: Listing) -> Reader:
    def read(path: PurePosixPath) -> NotTaken:
        return NotTaken(f"Gradescope's {METADATA} is missing beside it; collect the whole export")

    return read if listing.paths else lambda path: None


def submissions_in(data: bytes) -> Mapping[str, tuple[tuple[Person, ...], HandInTime]]:
    """Who handed in each folder, and when, from the bytes of a submission_metadata.yml.

    Raises:
        RefusedError: it cannot be read.
    """
    table = _yaml(data)
    if not isinstance(table, dict):
        raise RefusedError(f"{METADATA} is not a list of submissions; export them again")
    return {
        folder: (_people(about), _time(about.get(":created_at")))
        for folder, about in table.items()
        if isinstance(about, dict)
    }


def _people(about: Mapping[Any, Any]) -> tuple[Person, ...]:
    listed = about.get(":submitters")
    found = []
    for submitter in listed if isinstance(listed, list) else []:
        if not isinstance(submitter, dict):
            continue
        name, sid, email = (_text(submitter.get(key)) for key in (":name", ":sid", ":email"))
        if name or sid or email:
            shown = name or email or sid
            logins = tuple(text for text in (sid, email) if text)
            new_id = email.partition("@")[0] or sid or name
            found.append(Person(shown, logins, (name,), sis_id=sid, email=email, new_id=new_id))
    return tuple(found)


def _text(value: object) -> str:
    """A value that is a text; of anything else nothing, because a few lines may be gigabytes."""
    return value.strip() if isinstance(value, str) else ""


def _time(value: object) -> HandInTime:
    # A time without a zone is in UTC, as in YAML's own times.
    moment = read_date(value, UTC) if isinstance(value, str) else None
    return HandInTime(moment, TimeSource.SYSTEM) if moment else NO_TIME


def _yaml(data: bytes) -> Any:
    """The values in a YAML file, all of them as text; nothing of Ruby's types is built.

    Raises:
        RefusedError: it is not YAML, or nested deeper or longer than an export is.
    """
    import yaml

    base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

    class Plain(base):
        """Knows no type but texts, lists and tables."""

    def plain(loader: Any, suffix: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            fields = loader.construct_mapping(node, deep=True)
            # ActiveSupport::TimeWithZone has the moment in UTC, its zone, and the local time.
            return fields.get("utc", fields)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_scalar(node)

    Plain.add_multi_constructor("!", plain)
    try:
        _refuse_too_much(yaml.parse(data, base))
        return yaml.load(data, Plain)  # noqa: S506 - a BaseLoader
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}," if where else ""
        raise RefusedError(
            f"{METADATA}{line} is not valid YAML; export the submissions again"
        ) from (error)


def _refuse_too_much(events: Iterable[Any]) -> None:
    """Raises RefusedError for values that overflow the stack of C, or the memory, if built."""
    import yaml

    depth = 0
    for number, event in enumerate(events):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MOST_DEPTH or number > _MOST_EVENTS:
            more = "is nested deeper" if depth > _MOST_DEPTH else "holds more values"
            raise RefusedError(
                f"{METADATA}, line {event.start_mark.line + 1}, {more} than an export of "
                "Gradescope's; export the submissions again"
            )
