"""The source of the attention kernel as it lies in its file, and the statements a program runs.

Read as text, so that it can be shown where Triton does not exist. Which branch of an ``if`` a
launch takes is decided by its constexprs alone; the kernel has no other ``if``.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import kernels

FILE = Path(kernels.__file__).with_name("attention_kernel.py")
KERNEL = "paged_attention_kernel"


@dataclass(frozen=True, slots=True)
class Statement:
    """Lines ``first`` to ``last`` of the file, counted from 1.

    ``assigns`` are the names that they assign, and ``stores`` those of the pointers that they store
    through. What only records does neither for the reader.
    """

    first: int
    last: int
    assigns: frozenset[str] = frozenset()
    stores: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KernelSource:
    """The kernel's ``lines``, of which the first is ``first_line`` of the file, and what it runs.

    ``before`` runs once, ``body`` once per tile, ``after`` once; ``loop`` is the loop's head.
    """

    lines: tuple[str, ...]
    first_line: int
    before: tuple[Statement, ...]
    loop: Statement
    body: tuple[Statement, ...]
    after: tuple[Statement, ...]


def kernel_text() -> str:
    """The kernel's source, its decorator included."""
    lines, _, _ = _parsed()
    return "\n".join(lines)


def read_kernel(constexprs: Mapping[str, object]) -> KernelSource:
    """The kernel as a launch with these ``constexprs`` runs it (``AttentionSteps`` has them).

    Raises NameError if a branch hangs on one that is missing, ValueError for a launch with a second
    loop (weights in several tiles), which cannot be walked.
    """
    lines, first_line, function = _parsed()
    known = dict(constexprs)
    run = list(_run(function.body[1:], known))  # the first is the docstring
    places = [i for i, node in enumerate(run) if isinstance(node, ast.For)]
    if len(places) != 1:
        raise ValueError(f"with these constexprs the kernel has {len(places)} loops; one is walked")
    loop = run[places[0]]
    assert isinstance(loop, ast.For)
    return KernelSource(
        lines=lines,
        first_line=first_line,
        before=tuple(map(_statement, run[: places[0]])),
        loop=Statement(loop.lineno, loop.lineno, frozenset({ast.unparse(loop.target)})),
        body=tuple(map(_statement, _run(loop.body, known))),
        after=tuple(map(_statement, run[places[0] + 1 :])),
    )


@cache  # the kernel that runs is the one that was imported, even if the file is edited since
def _parsed() -> tuple[tuple[str, ...], int, ast.FunctionDef]:
    """The kernel's lines, the number of the first in the file, and its syntax tree."""
    text = FILE.read_text(encoding="utf-8")
    (function,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == KERNEL
    )
    first = min(decorator.lineno for decorator in function.decorator_list)
    return tuple(text.splitlines()[first - 1 : function.end_lineno]), first, function


def _run(body: list[ast.stmt], known: dict[str, object]) -> Iterator[ast.stmt]:
    """The statements of ``body`` that are run, branches taken in place of their ``if``.

    What only records is one statement, however many lines it has. ``known`` are the constexprs by
    name; those that the kernel makes of others (``NAME: tl.constexpr = ...``) are added.
    """
    for node in body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            known[ast.unparse(node.target)] = _value(node.value, known)
        if not isinstance(node, ast.If):
            yield node
        elif not _is_recording(node):
            yield from _run(node.body if _value(node.test, known) else node.orelse, known)
        elif _value(node.test, known):
            yield node


def _is_recording(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "RECORD"


def _value(expression: ast.expr, known: Mapping[str, object]) -> object:
    """What an expression of constexprs is; a name that is none of them is a ``NameError``."""
    code = compile(ast.Expression(expression), str(FILE), "eval")
    return eval(code, {"__builtins__": {}}, dict(known))


def _statement(node: ast.stmt) -> Statement:
    last = node.end_lineno or node.lineno
    if _is_recording(node):
        return Statement(node.lineno, last)
    inside = list(ast.walk(node))
    assigns = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    calls = (n for n in inside if isinstance(n, ast.Call) and ast.unparse(n.func) == "tl.store")
    stores = {_pointer(call.args[0]) for call in calls}
    return Statement(node.lineno, last, frozenset(assigns), frozenset(stores))


def _pointer(address: ast.expr) -> str:
    """The name that an address begins with: ``out`` of ``out + offsets``."""
    while isinstance(address, ast.BinOp):
        address = address.left
    return ast.unparse(address)
