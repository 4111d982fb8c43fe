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

# One program of a decode step, recorded: a row and a KV head, K and V with the same strides.
RECORDED: Mapping[str, object] = {
    "BATCH": 1,
    "K_STRIDES": (),
    "V_STRIDES": (),
    "SPLIT": False,
    "WEIGHTS": False,
    "ONE_TILE": False,
    "RECORD": True,
}


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


def read_kernel(constexprs: Mapping[str, object] = RECORDED) -> KernelSource:
    """The kernel as a launch with these ``constexprs`` runs it."""
    text = FILE.read_text(encoding="utf-8")
    (function,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == KERNEL
    )
    first = min(decorator.lineno for decorator in function.decorator_list)
    last = function.end_lineno or function.lineno
    run = list(_run(function.body[1:], constexprs))  # the first is the docstring
    (place,) = (i for i, node in enumerate(run) if isinstance(node, ast.For))
    loop = run[place]
    assert isinstance(loop, ast.For)
    return KernelSource(
        lines=tuple(text.splitlines()[first - 1 : last]),
        first_line=first,
        before=tuple(map(_statement, run[:place])),
        loop=Statement(loop.lineno, loop.lineno, frozenset({ast.unparse(loop.target)})),
        body=tuple(map(_statement, _run(loop.body, constexprs))),
        after=tuple(map(_statement, run[place + 1 :])),
    )


def _run(body: list[ast.stmt], constexprs: Mapping[str, object]) -> Iterator[ast.stmt]:
    """The statements of ``body`` that are run, branches taken in place of their ``if``.

    What only records is one statement, however many lines it has.
    """
    for node in body:
        if not isinstance(node, ast.If) or ast.unparse(node.test) == "RECORD":
            yield node
        else:
            yield from _run(node.body if _holds(node.test, constexprs) else node.orelse, constexprs)


def _holds(test: ast.expr, constexprs: Mapping[str, object]) -> bool:
    """Whether a condition on constexprs holds; a name that is none of them is a ``NameError``."""
    code = compile(ast.Expression(test), str(FILE), "eval")
    return bool(eval(code, {"__builtins__": {}}, dict(constexprs)))


def _statement(node: ast.stmt) -> Statement:
    names = {
        name.id
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    is_recording = isinstance(node, ast.If)
    assigns = frozenset() if is_recording else frozenset(names)
    return Statement(node.lineno, node.end_lineno or node.lineno, assigns)
