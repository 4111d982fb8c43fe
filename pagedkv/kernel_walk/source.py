"""The source of the attention kernel as it lies in its file, and the statements a program runs.

Read as text, so that it can be shown where Triton does not exist. Which branch of an ``if`` a
launch takes is decided by its constexprs alone; the kernel has no other ``if``.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import kernels

FILE = Path(kernels.__file__).with_name("attention_kernel.py")
KERNEL = "paged_attention_kernel"


@dataclass(frozen=True, slots=True)
class Statement:
    """Lines ``first`` to ``last`` of the file, counted from 1, and the names that they assign."""

    first: int
    last: int
    assigns: frozenset[str] = frozenset()


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


def read_kernel(constexprs: Mapping[str, object]) -> KernelSource:
    """The kernel as a launch with these ``constexprs`` runs it (``AttentionSteps`` has them).

    Raises NameError if a branch hangs on one that is missing.
    """
    text = FILE.read_text(encoding="utf-8")
    (function,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == KERNEL
    )
    first = min(decorator.lineno for decorator in function.decorator_list)
    last = function.end_lineno or function.lineno
    known = dict(constexprs)
    run = list(_run(function.body[1:], known))  # the first is the docstring
    (place,) = (i for i, node in enumerate(run) if isinstance(node, ast.For))
    loop = run[place]
    assert isinstance(loop, ast.For)
    return KernelSource(
        lines=tuple(text.splitlines()[first - 1 : last]),
        first_line=first,
        before=tuple(map(_statement, run[:place])),
        loop=Statement(loop.lineno, loop.lineno, frozenset({ast.unparse(loop.target)})),
        body=tuple(map(_statement, _run(loop.body, known))),
        after=tuple(map(_statement, run[place + 1 :])),
    )


def _run(body: list[ast.stmt], known: dict[str, object]) -> Iterator[ast.stmt]:
    """The statements of ``body`` that are run, branches taken in place of their ``if``.

    What only records is one statement, however many lines it has. ``known`` are the constexprs by
    name; those that the kernel makes of others (``NAME: tl.constexpr = ...``) are added.
    """
    for node in body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            known[ast.unparse(node.target)] = _value(node.value, known)
        if not isinstance(node, ast.If) or ast.unparse(node.test) == "RECORD":
            yield node
        else:
            yield from _run(node.body if _value(node.test, known) else node.orelse, known)


def _value(expression: ast.expr, known: Mapping[str, object]) -> object:
    """What an expression of constexprs is; a name that is none of them is a ``NameError``."""
    code = compile(ast.Expression(expression), str(FILE), "eval")
    return eval(code, {"__builtins__": {}}, dict(known))


def _statement(node: ast.stmt) -> Statement:
    names = {
        name.id
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    is_recording = isinstance(node, ast.If)
    assigns = frozenset() if is_recording else frozenset(names)
    return Statement(node.lineno, node.end_lineno or node.lineno, assigns)
