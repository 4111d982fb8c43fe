"""A printed formula, worked out by hand: numbers, four signs, and ceil, floor, min and max."""

import ast
import math
import operator
import re
from collections.abc import Callable
from fractions import Fraction

Worked = Fraction | int
SIGNS: dict[type[ast.operator], Callable[[Worked, Worked], Worked]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: Fraction(left) / right,
    ast.FloorDiv: operator.floordiv,
}
WORDS: dict[str, Callable[..., Worked]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "min": min,
    "max": max,
}
UNITS = re.compile(r" (GiB|B|layers?|groups)\b")


def worked_out(formula: str) -> Worked | None:
    """What a formula comes to, to the last digit; None if it is words."""
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", UNITS.sub("", formula))
    text = text.replace("×", "*").replace("−", "-")
    if set(re.findall(r"[a-z]{2,}", text)) - set(WORDS):
        return None
    return _value(ast.parse(text, mode="eval").body, text)


def _value(node: ast.expr, text: str) -> Worked:
    if isinstance(node, ast.Constant):
        return Fraction(ast.get_source_segment(text, node))
    if isinstance(node, ast.BinOp):
        return SIGNS[type(node.op)](_value(node.left, text), _value(node.right, text))
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return WORDS[node.func.id](*(_value(argument, text) for argument in node.args))
