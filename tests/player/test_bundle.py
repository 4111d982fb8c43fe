"""The player's files, joined: in which order, what is refused, and that they also work apart."""

import re
from collections import Counter
from pathlib import Path

import pytest
import sample

import pagedkv.player
from pagedkv.player import player_css, player_data, player_js
from pagedkv.player.bundle import CannotJoin, join_modules, join_styles

PLAYER = Path(pagedkv.player.__file__).parent
MODULES = [PLAYER / "player.js", *sorted((PLAYER / "screen").glob("*.js"))]
LONGEST_FILE = 250
DECLARED = re.compile(
    r"^(?:export )?(?:async )?(?:function|class|const|let|var)\*? (\w+)", re.MULTILINE
)
IMPORTED = re.compile(r"^import \{([^}]*)\} from .*\n", re.MULTILINE)


def written(folder: Path, files: dict[str, str]) -> Path:
    """Write the files and return ``main.js``."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "main.js"


def names_of(text: str) -> set[str]:
    return {name.strip() for names in IMPORTED.findall(text) for name in names.split(",")} - {""}


def code_of(path: Path) -> str:
    """Return a module without its comments and imports."""
    text = IMPORTED.sub("", path.read_text(encoding="utf-8"))
    return re.sub(r"/\*[\s\S]*?\*/|//.*", "", text)


# --- joining ------------------------------------------------------------------------------------


def test_a_module_stands_once_before_all_that_import_it(tmp_path) -> None:
    main = written(
        tmp_path,
        {
            "main.js": 'import { b } from "./parts/b.js";\nimport { a } from "./parts/a.js";\n\n'
            "export const main = a + b;\n",
            "parts/a.js": 'import { base } from "./base.js";\n\nexport const a = base;\n',
            "parts/b.js": 'import {\n  base,\n} from "./base.js";\n\nexport const b = base;\n',
            "parts/base.js": "export const base = 1;\n",
        },
    )
    *parts, last = filter(None, join_modules(main).splitlines())
    assert parts == ["const base = 1;", "const b = base;", "const a = base;"]
    assert last == "export const main = a + b;"


def test_every_kind_of_declaration_loses_its_export(tmp_path) -> None:
    part = "export function f() {}\nexport async function g() {}\nexport class C {}\n"
    main = written(tmp_path, {"main.js": 'import { f } from "./a.js";\nf();\n', "a.js": part})
    assert "export" not in join_modules(main)
    assert "async function g() {}\nclass C {}" in join_modules(main)


def test_words_in_comments_and_strings_stay(tmp_path) -> None:
    text = '/**\n * export default x\n * import { y } from "./y.js"\n */\nconst s = "export";\n'
    assert join_modules(written(tmp_path, {"main.js": text})) == text


A = "export const a = 1;\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"main.js": 'import { a } from "./a.js";\nconst a2 = a;\nconst b = 2;\n'}
            | {"a.js": A + "function b() {}\n"},
            "a.js and main.js both declare 'b'",
        ),
        ({"main.js": 'import { a } from "./a.js";\n'}, "main.js imports a.js, which does not"),
        (
            {"main.js": 'import { a } from "./a.js";\n'}
            | {"a.js": 'import { b } from "./b.js";\n' + A}
            | {"b.js": 'import { a } from "./a.js";\nexport const b = 1;\n'},
            "an import cycle: main.js → a.js → b.js → a.js",
        ),
        ({"main.js": 'import { x } from "./a.js";\n', "a.js": A}, "main.js: a.js exports no x"),
        (
            {"main.js": 'import { a } from "./a.js";\n', "a.js": "const a = 1;\n"},
            "main.js: a.js exports no a",
        ),
        ({"main.js": 'import { a as b } from "./a.js";\n', "a.js": A}, "exports no a as b"),
        ({"main.js": 'import a from "./a.js";\n', "a.js": A}, "main.js: cannot join 'import a"),
        ({"main.js": 'import * as a from "./a.js";\n', "a.js": A}, "cannot join 'import [*]"),
        ({"main.js": 'import "./a.js";\n', "a.js": A}, "cannot join 'import \"./a.js"),
        ({"main.js": 'import { a } from "a";\n'}, 'cannot join \'import { a } from "a"'),
        ({"main.js": "export default function () {}\n"}, "cannot join 'export default"),
        ({"main.js": "const a = 1;\nexport { a };\n"}, "cannot join 'export { a }"),
        ({"main.js": 'export * from "./a.js";\n', "a.js": A}, "cannot join 'export [*]"),
        ({"main.js": "const { a, b } = window;\n"}, "cannot join 'const { a, b }"),
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path, files, message) -> None:
    with pytest.raises(CannotJoin, match=message):
        join_modules(written(tmp_path, files))


def test_styles_stand_in_the_order_of_their_imports(tmp_path) -> None:
    sheets = {"b.css": "b {}\n", "styles/a.css": "a {}\n"}
    text = '/* why */\n@import "./b.css";\n@import "./styles/a.css";\n'
    written(tmp_path, sheets | {"all.css": text})
    assert join_styles(tmp_path / "all.css") == "/* why */\nb {}\n\na {}\n\n"
    (tmp_path / "b.css").unlink()
    with pytest.raises(CannotJoin, match=r"all\.css imports b\.css, which does not exist"):
        join_styles(tmp_path / "all.css")


# --- the player's own files ---------------------------------------------------------------------


def test_the_script_exports_the_player_alone_and_imports_nothing() -> None:
    exports = re.findall(r"^export.*", player_js(), re.MULTILINE)
    assert exports == ["export function mountPlayer(root, data, options = {}) {"]
    assert not re.search(r"^import\b", player_js(), re.MULTILINE)


def test_the_script_declares_each_name_once() -> None:
    counts = Counter(DECLARED.findall(player_js()))
    assert len(counts) > 100
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_module_and_every_style_is_reached_once() -> None:
    assert len(MODULES) > 30
    starts = {path: path.read_text(encoding="utf-8").partition("\n\n")[0] for path in MODULES}
    assert [p.name for p, start in starts.items() if player_js().count(start) != 1] == []
    styles = [path.read_text(encoding="utf-8") for path in (PLAYER / "styles").glob("*.css")]
    assert len(styles) > 20
    assert [text for text in styles if player_css().count(text) != 1] == []
    assert "@import" not in player_css()


def test_what_changes_all_parts_comes_last_in_the_cascade() -> None:
    order = re.findall(r"styles/([\w-]+)\.css", (PLAYER / "player.css").read_text("utf-8"))
    assert order[:2] == ["colours", "base"]
    assert order[-4:] == ["dense", "narrow", "long-tokens", "present"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_says_its_idea_and_is_short(path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("/**")
    assert text.count("\n") <= LONGEST_FILE


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_imports_what_it_calls_and_nothing_else(path) -> None:
    """In one text a forgotten import would not be missed; in a browser that loads files it is."""
    code, imported = code_of(path), names_of(path.read_text(encoding="utf-8"))
    own = set(DECLARED.findall(code))
    others = {name for other in MODULES for name in DECLARED.findall(code_of(other))} - own
    called = set(re.findall(r"(?<![\w.])(?:\.\.\.)?(\w+)(?=\(|\.bind\()", code)) & others
    assert called <= imported
    assert imported <= called


def test_a_browser_can_load_the_files_as_they_are(browser) -> None:
    def answer(route) -> None:
        path = PLAYER / route.request.url.removeprefix("http://player.test/")
        kind = {".js": "text/javascript", ".css": "text/css"}.get(path.suffix)
        if kind:
            route.fulfill(body=path.read_bytes(), content_type=kind)
        else:
            route.fulfill(body="<!doctype html><main></main>", content_type="text/html")

    page = browser.new_page(viewport={"width": 1280, "height": 800})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("http://player.test/**", answer)
    page.goto("http://player.test/")
    page.add_style_tag(url="http://player.test/player.css")
    page.evaluate(
        """async (data) => {
          const { mountPlayer } = await import("http://player.test/player.js");
          mountPlayer(document.querySelector("main"), data);
        }""",
        player_data(sample.growth(), sample.lesson()),
    )
    page.keyboard.press("ArrowRight")
    assert page.get_by_test_id("step-label").text_content() == "2 of 8"
    assert page.locator(".views").evaluate("(node) => getComputedStyle(node).display") == "grid"
    page.close()
    assert errors == []
