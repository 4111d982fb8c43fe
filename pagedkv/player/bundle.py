"""Join the player's modules into one script, and its styles into one sheet.

Why: a component or an exported page takes one text, while a reader wants a file for each idea. The
modules keep to ``import { name } from "./file.js"`` and to ``export`` before a declaration, so that
no tool beyond this file is needed; all else is refused, not guessed at.
"""

import re
from pathlib import Path

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.{1,2}/[^"]+)";\n+', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const|let)\b)", re.MULTILINE)
_NAME = re.compile(r"^(export )?(?:async function|function|class|const|let)\*? (\w+)", re.MULTILINE)
_OTHER = re.compile(r"^(?:(?:import|export|var)\b|(?:const|let) ?[\[{]).*", re.MULTILINE)
_STYLE = re.compile(r'^@import "(\./[^"]+)";\n', re.MULTILINE)


class CannotJoin(ValueError):
    """Files that would not do in one text what they do apart."""


def join_modules(entry: Path) -> str:
    """Return one ES module: each file once, before whoever imports it. Only ``entry`` exports."""
    entry = entry.resolve()
    bodies: dict[Path, str] = {}
    _collect(entry, (), bodies)
    owners: dict[str, Path] = {}
    for path, body in bodies.items():
        for _, name in _NAME.findall(body):
            if name in owners:
                raise CannotJoin(f"{owners[name].name} and {path.name} both declare {name!r}")
            owners[name] = path
    return "\n".join(
        body if path == entry else _EXPORT.sub("", body) for path, body in bodies.items()
    )


def _collect(path: Path, importers: tuple[Path, ...], bodies: dict[Path, str]) -> None:
    """Add what ``path`` imports to ``bodies``, then its own text without the imports."""
    if path in importers:
        raise CannotJoin("an import cycle: " + " → ".join(p.name for p in (*importers, path)))
    if path in bodies:
        return
    text = _read(path, importers[-1] if importers else path)
    for names, target in _IMPORT.findall(text):
        source = (path.parent / target).resolve()
        _collect(source, (*importers, path), bodies)
        exported = {name for export, name in _NAME.findall(bodies[source]) if export}
        if missing := {name.strip() for name in names.split(",")} - exported - {""}:
            raise CannotJoin(f"{path.name}: {source.name} exports no {' and no '.join(missing)}")
    bodies[path] = _IMPORT.sub("", text)
    if odd := _OTHER.search(_EXPORT.sub("", bodies[path])):
        raise CannotJoin(f"{path.name}: cannot join {odd[0]!r}")


def join_styles(entry: Path) -> str:
    """Return one style sheet: ``entry`` with each ``@import`` replaced by the file it names."""
    text = _read(entry, entry)
    return _STYLE.sub(lambda found: _read(entry.parent / found[1], entry) + "\n", text)


def _read(path: Path, importer: Path) -> str:
    if not path.is_file():
        raise CannotJoin(f"{importer.name} imports {path.name}, which does not exist")
    return path.read_text(encoding="utf-8")
