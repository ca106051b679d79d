"""A text as a list of symbols that stay the same if names, comments or the layout change.

Code is split by Python's own tokenizer. All names that the student chose become one symbol; names
of libraries, attributes, numbers and operators stay. Comments, docstrings, line breaks inside
brackets and indentation are dropped. Prose becomes its words in lower case.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradekit.python_names import names_bound_in, parsed

MOST_TEXT = 2**17  # characters of one cell; no answer is as long
OWN_NAME, TEXT, LINE_END = "name", "text", ";"
_DROPPED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
_OPENING, _CLOSING = {"(", "[", "{"}, {")", "]", "}"}
_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Symbol:
    """One token: its normalised form, and the characters of the text that it came from."""

    form: str
    start: int
    stop: int


def chosen_names(cells: Iterable[str]) -> dict[str, str]:
    """By each name that a student's cells bind, the symbol that replaces it.

    An imported name is replaced by the name that it has in its module.
    """
    names: dict[str, str] = {}
    for cell in cells:
        text = cell[:MOST_TEXT]
        try:
            tree = parsed(_without_magics(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            names |= dict.fromkeys(names_bound_in(text), OWN_NAME)
            continue
        for node in ast.walk(tree):
            names.update(_bound(node))
    return names


def code_symbols(text: str, names: Mapping[str, str]) -> list[Symbol]:
    """The symbols of a code cell; it need not be valid Python.

    Args:
        names: from :func:`chosen_names`, of all cells of the hand-in.
    """
    symbols: list[Symbol] = []
    for token, form in _normalised(list(_tokens(text[:MOST_TEXT])), names):
        if form == LINE_END and symbols and _is_docstring(symbols):
            symbols.pop()
        elif form == LINE_END and (not symbols or symbols[-1].form == LINE_END):
            continue
        else:
            if form in _CLOSING and symbols and symbols[-1].form == ",":
                symbols.pop()  # formatters add a comma at the end of a long list
            symbols.append(Symbol(form, token.start, token.stop))
    return symbols


def prose_symbols(text: str) -> list[Symbol]:
    """The words of a free-text answer, in lower case."""
    words = _WORD.finditer(text[:MOST_TEXT])
    return [Symbol(word[0].casefold(), word.start(), word.end()) for word in words]


@dataclass(frozen=True, slots=True)
class _Token(Symbol):
    """A symbol before names are replaced; `kind` is the tokenizer's."""

    kind: int


def _tokens(text: str) -> Iterator[_Token]:
    """The tokens of a text; what Python's tokenizer does not accept is split by a pattern."""
    starts = _line_starts(text)
    end = 0
    try:
        for kind, form, (row, column), (last_row, last_column), _ in tokenize.generate_tokens(
            io.StringIO(text).readline
        ):
            start, end = starts[row - 1] + column, starts[last_row - 1] + last_column
            if kind == tokenize.NEWLINE or form == ";":
                yield _Token(LINE_END, start, end, tokenize.NEWLINE)
            elif kind not in _DROPPED and form.strip():
                yield _Token(form, start, end, kind)
    except (tokenize.TokenError, SyntaxError):
        for piece in _PIECE.finditer(text, min(end, len(text))):
            kind = tokenize.NAME if piece[0].isidentifier() else tokenize.OP
            yield _Token(piece[0], piece.start(), piece.end(), kind)


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in io.StringIO(text):
        starts.append(starts[-1] + len(line))
    # The tokenizer puts the end of the text into a line of its own.
    return [*starts, starts[-1]]


def _normalised(tokens: Sequence[_Token], names: Mapping[str, str]) -> Iterator[tuple[_Token, str]]:
    """Each token and the form that stands for it."""
    before, depth, in_signature = "", 0, False
    for position, token in enumerate(tokens):
        after = tokens[position + 1].form if position + 1 < len(tokens) else ""
        if token.form == "def" and before in ("", LINE_END, "async"):
            in_signature = True
        depth += (token.form in _OPENING) - (token.form in _CLOSING)
        if token.form == ":" and depth <= 0:
            in_signature = False
        is_keyword = after == "=" and depth > 0 and not in_signature
        if token.kind == tokenize.STRING or tokenize.tok_name[token.kind] == "FSTRING_MIDDLE":
            yield token, TEXT
        elif token.kind != tokenize.NAME or keyword.iskeyword(token.form):
            yield token, token.form
        elif before == "self.":
            yield token, OWN_NAME
        elif before == "." or is_keyword:
            yield token, token.form
        else:
            yield token, names.get(token.form, token.form)
        before = "self." if (before, token.form) == ("self", ".") else token.form


def _is_docstring(symbols: list[Symbol]) -> bool:
    """Whether the last line so far is a text and nothing else."""
    if symbols[-1].form != TEXT:
        return False
    return len(symbols) == 1 or symbols[-2].form == LINE_END


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, OWN_NAME
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            if name not in ("self", "cls"):
                yield name, OWN_NAME
        case ast.ExceptHandler(name=str(name)):
            yield name, OWN_NAME
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                real = alias.name.rpartition(".")[2] if alias.asname else alias.name
                yield alias.asname or alias.name.partition(".")[0], real.partition(".")[0]


def _without_magics(text: str) -> str:
    """A cell without IPython's own lines (%magic, !shell)."""
    lines = text.split("\n")
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)
