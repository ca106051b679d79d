"""Maps nbgrader onto this course's folders and names our plugins. It contains no logic."""

import os
from pathlib import Path

from gradekit.nbgrader.validate import Validation

c = get_config()  # noqa: F821 - nbgrader provides it

c.CourseDirectory.course_id = "attention-labs"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "labs"
# submitted/, autograded/ and feedback/ keep nbgrader's own names, as gradebook.db does.

# The students' TODO is above each answer in the solved notebook; this replaces the answer.
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
c.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"
# nbgrader's own steps of a release, and one of ours: a blank cell must not stop "Run All".
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearSolutions",
    "gradekit.nbgrader.runnable.RunnableBlanks",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# The sandbox runs student code, and the judge marks it. Without these lines, nbgrader does both.
plugins = "gradekit.nbgrader.plugins"
c.Autograde.exporter_class = f"{plugins}.SubmissionReader"
c.Autograde.sanitize_preprocessors = ["nbgrader.preprocessors.CheckCellMetadata"]
c.Autograde.autograde_preprocessors = [
    f"{plugins}.SandboxExecute",
    "nbgrader.preprocessors.LimitOutput",
    f"{plugins}.FinishEntry",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.AssignLatePenalties.plugin_class = f"{plugins}.CourseLateRule"
c.GenerateFeedback.exporter_class = f"{plugins}.FeedbackPage"

# The default takes the strongest sandbox of this machine: bubblewrap, or else landlock. This line
# makes autograde, formgrader's button and validate stop where bubblewrap is unavailable.
# c.SandboxExecute.confinement = "bubblewrap"

# `nbgrader validate` starts a kernel in the notebook's folder. The kernel gets no cell and imports
# nothing from there; the validator reads outputs from the sandbox and the judge.
c.Execute.on_cell_start = Validation(Path(__file__).resolve().parent)
c.Execute.kernel_name = "python3"
c.Execute.extra_arguments = ["--InteractiveShellApp.ignore_cwd=True"]
c.Execute.shutdown_kernel = "immediate"
os.environ["PYTHONSAFEPATH"] = "1"

# A gradebook on PostgreSQL; docs/gradebook.md says how.
# c.CourseDirectory.db_url = "postgresql+psycopg://staff@db.example.org/grades"
