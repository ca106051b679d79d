"""Draws docs/img/architecture.svg: the packages of gradekit and what each imports, from the code.

    python docs/draw_architecture.py

LAYERS is the rule: a package imports only packages in layers below its own. tests/test_layers.py
holds the code to it, and the picture to the code. A new package, or a new module beside them, needs
a place in LAYERS and a few words in PURPOSES.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KIT = ROOT / "autograder" / "gradekit"
PICTURE = ROOT / "docs" / "img" / "architecture.svg"

# From the top; packages of one layer do not import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("cli",),
    ("verify", "nbgrader"),
    ("report",),
    ("grading", "returns", "term", "similarity", "marking"),
    ("doctor", "export", "feedback"),
    ("build", "gradebook"),
    ("exercise", "sandbox", "submissions"),
    ("nbgrader_settings", "late", "results"),
    ("course",),
    ("roster",),
    ("files",),
    ("errors", "python_names", "untrusted", "wording"),
)
PURPOSES: Mapping[str, str] = {
    "cli": "the lab command",
    "verify": "proof that the checks work",
    "nbgrader": "nbgrader's own commands",
    "grading": "plan, sandbox, judge, record",
    "report": "what the class understood",
    "marking": "free text, on a page",
    "similarity": "what few others have",
    "feedback": "what a student gets back",
    "export": "marks out",
    "returns": "pages back to students",
    "term": "one table over all labs",
    "doctor": "what this machine has",
    "build": "source to bundle",
    "gradebook": "nbgrader's database",
    "exercise": "checks, mistakes, variants",
    "sandbox": "trusted half: starts it",
    "submissions": "whose file, what is in it",
    "late": "the late rule",
    "nbgrader_settings": "nbgrader_config.py",
    "results": "records, journal",
    "roster": "who is in the course",
    "files": "temporary and whole files",
    "course": "course.toml",
    "python_names": "what code binds",
    "wording": "numbers and names in sentences",
    "untrusted": "runs beside student code",
    "errors": "one family",
}


def package_of(module: str) -> str:
    """The package of gradekit, or the module at its top, that a module belongs to."""
    return module.split(".")[1]


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of gradekit but its own ``__init__``, with its file."""
    for path in sorted(KIT.rglob("*.py")):
        parts = path.relative_to(KIT.parent).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if len(parts) > 1:
            yield ".".join(parts), path


def imports_of(path: Path, package: str = "gradekit") -> Iterator[str]:
    """The modules of `package` that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith(f"{package}."))


def package_imports() -> dict[str, set[str]]:
    """For each package, the other packages that it imports."""
    found: dict[str, set[str]] = {name: set() for layer in LAYERS for name in layer}
    for module, path in modules():
        package = package_of(module)
        others = {package_of(name) for name in imports_of(path)} - {package}
        found.setdefault(package, set()).update(others)
    return found


def _direct(imports: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """The arrows that do not follow from others."""
    for package, others in imports.items():
        implied = {far for near in others for far in _all_below(near, imports)}
        yield from ((package, other) for other in sorted(others - implied))


def _all_below(package: str, imports: Mapping[str, set[str]]) -> set[str]:
    near = imports[package]
    return near | {far for other in near for far in _all_below(other, imports)}


def draw(target: Path) -> None:
    """Write the picture. The same code gives the same bytes."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "architecture", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    width = 2.2 * max(map(len, LAYERS))  # inches; the widest box takes less than 2.2 of them
    figure, axes = plt.subplots(figsize=(width, 8.5))
    axes.set(xlim=(0, width), ylim=(-0.2, len(LAYERS)))
    axes.axis("off")
    places = {}
    for row, layer in enumerate(reversed(LAYERS)):
        for column, name in enumerate(layer):
            places[name] = (width * (column + 0.5) / len(layer), row + 0.35)
    for start, end in _direct(package_imports()):
        (x, y), (to_x, to_y) = places[start], places[end]
        axes.annotate(
            "",
            (to_x, to_y + 0.24),
            (x, y - 0.24),
            arrowprops={"arrowstyle": "-|>", "color": "0.55", "linewidth": 0.9},
        )
    for name, (x, y) in places.items():
        colour = "#f7d9d0" if name == "untrusted" else "#e8eef7"
        box = {"boxstyle": "round,pad=0.45", "facecolor": colour, "edgecolor": "0.4"}
        text = f"{name}\n{PURPOSES[name]}"
        axes.text(x, y, text, ha="center", va="center", fontsize=8.5, bbox=box)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(PICTURE)
