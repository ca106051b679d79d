"""Copies a gradebook, manual marks included, to the new and empty one of nbgrader_config.py.

python -m gradekit.gradebook.move sqlite:////path/to/course/gradebook.db

Tested in tests/gradekit/nbgrader/test_postgresql.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nbgrader import api
from sqlalchemy import create_engine, delete, insert, select
from sqlalchemy.engine import Connection

from gradekit.course import find_root, load_course
from gradekit.errors import CourseError, GradebookError
from gradekit.gradebook.address import Address, address_of, plain_errors
from gradekit.gradebook.gradebook import Book


def move(source: Address, target: Address) -> int:
    """Copy every row of `source` to `target`, all or none; `source` is unchanged.

    Returns:
        The number of submissions.

    Raises:
        GradebookError: there is nothing to copy, or `target` is not empty.
    """
    if source.url == target.url:
        raise GradebookError(
            f"{source.shown} is the course's gradebook itself; set c.CourseDirectory.db_url in "
            "nbgrader_config.py to the new one"
        )
    if source.file is not None and not source.file.is_file():
        raise GradebookError(f"the gradebook {source.shown} is not there; check the path")
    with Book(target):  # this makes its tables
        pass
    with plain_errors(source):
        old = create_engine(source.url)
    with plain_errors(target):
        new = create_engine(target.url)
        try:
            with old.connect() as read, new.begin() as write:
                return _copy(read, write, target)
        finally:
            old.dispose()
            new.dispose()


def _copy(read: Connection, write: Connection, target: Address) -> int:
    tables = api.Base.metadata.sorted_tables
    holding = [
        table.name
        for table in tables
        if table.name != "course" and write.execute(select(table).limit(1)).first() is not None
    ]
    if holding:
        raise GradebookError(
            f"the gradebook {target.shown} is not empty (it holds {', '.join(holding)}); name an "
            "empty database"
        )
    write.execute(delete(tables[[table.name for table in tables].index("course")]))
    copied = {}
    for table in tables:
        rows = [dict(row) for row in read.execute(select(table)).mappings()]
        if rows:
            write.execute(insert(table), rows)
        copied[table.name] = len(rows)
    return copied["submitted_assignment"]


def main(arguments: list[str]) -> None:
    """Copy from the address on the command line to the course's gradebook."""
    if len(arguments) != 1:
        sys.exit("usage: python -m gradekit.gradebook.move OLD_ADDRESS")
    try:
        course = load_course(find_root(Path.cwd()))
        target = address_of(course)
        count = move(Address(arguments[0], target.course_id), target)
    except (CourseError, GradebookError) as error:
        sys.exit(f"move_gradebook: {error}")
    sys.stdout.write(f"{count} hand-ins are in {target.shown} now\n")


if __name__ == "__main__":
    main(sys.argv[1:])
