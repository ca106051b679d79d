"""The course: course.toml as frozen values, its folders, and everyone's due dates.

LAYERS in docs/draw_architecture.py says what it may import. Tested in tests/gradekit/course.
"""

from gradekit.course.course import BUNDLES, RELEASED, SOLVED, Course
from gradekit.course.extensions import Extensions
from gradekit.course.load import find_root, load_course
from gradekit.course.tables import (
    FILE_NAME,
    CourseFile,
    ExerciseLimitValues,
    Extension,
    LabTable,
    LateRule,
    LimitValues,
    TermRule,
)

__all__ = [
    "BUNDLES",
    "FILE_NAME",
    "RELEASED",
    "SOLVED",
    "Course",
    "CourseFile",
    "ExerciseLimitValues",
    "Extension",
    "Extensions",
    "LabTable",
    "LateRule",
    "LimitValues",
    "TermRule",
    "find_root",
    "load_course",
]
