"""Maps nbgrader onto this course's folders and names our plugins. It holds no logic."""

c = get_config()  # noqa: F821 - nbgrader provides it

c.CourseDirectory.course_id = "attention-labs"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "labs"
# submitted/, autograded/ and feedback/ keep nbgrader's own names, as gradebook.db does.

# The students' TODO stands above each answer in the solved notebook; this takes the answer's place.
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
c.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"

# The sandbox runs student code and the judge marks it; without these lines, nbgrader does both.
plugins = "gradekit.nbgrader_plugins"
c.Autograde.exporter_class = f"{plugins}.HandInReader"
c.Autograde.autograde_preprocessors = [
    f"{plugins}.SandboxExecute",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    f"{plugins}.FinishEntry",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.AssignLatePenalties.plugin_class = f"{plugins}.CourseLateRule"
c.GenerateFeedback.exporter_class = f"{plugins}.FeedbackPage"
