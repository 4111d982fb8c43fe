"""How the house is built: which way imports point, and what no file may contain.

Read from the source with ``ast``, so that nothing has to be imported to be judged.
"""

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
LONGEST_FUNCTION = 60  # lines
LONGEST_FILE = 400

# Rooms of pagedkv, by module prefix; what is not listed is the engine.
MODEL = ("pagedkv.model",)
LLAMA = ("pagedkv.llama",)  # real models, beside the course's own
TRACE = (
    "pagedkv.trace",
    "pagedkv.narration",
    "pagedkv.recorder",
    "pagedkv.contiguous_baseline",
    "pagedkv.snapshot",
    "pagedkv.evidence",
    "pagedkv.memory_check",
    "pagedkv.slot_history",
    "pagedkv.suppositions",
    "pagedkv.vectors",
)
ABOVE_TRACE = (
    "pagedkv.lessons",
    "pagedkv.experiments",
    "pagedkv.generate",
    "pagedkv.kernel_walk",
    "pagedkv.player",
    "pagedkv.figures",
    "pagedkv.planner",
    "pagedkv.run_store",
    "pagedkv.sandbox",
    "pagedkv.terms",
    "pagedkv.workloads",
    "pagedkv.__main__",
)


def module_name(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {
    module_name(path): path
    for folder in ("kernels", "pagedkv", "pages")
    for path in sorted((PROJECT / folder).rglob("*.py"))
} | {"app": PROJECT / "app.py"}


def within(name: str, rooms: tuple[str, ...]) -> bool:
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


def runtime_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under ``if TYPE_CHECKING``: names for types are no dependency."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from runtime_nodes(node)


def imports(module: str) -> set[str]:
    """Full names of what a module imports, relative imports resolved; names imported from too."""
    found = set()
    is_package = SOURCES[module].name == "__init__.py"
    package = module if is_package else module.rpartition(".")[0]
    for node in runtime_nodes(ast.parse(SOURCES[module].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *filter(None, [node.module])])
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def packages(module: str) -> set[str]:
    return {name.partition(".")[0] for name in imports(module)}


def ours(module: str) -> set[str]:
    return {name for name in imports(module) if name in SOURCES}


def modules(*rooms: str) -> list[str]:
    return [name for name in SOURCES if within(name, rooms)]


ENGINE = [
    name
    for name in modules("pagedkv")
    if name != "pagedkv" and not within(name, MODEL + LLAMA + TRACE + ABOVE_TRACE)
]


def test_the_engine_is_all_there():
    """What follows would prove nothing about an empty list."""
    rooms = {"layout", "block_pool", "block_manager", "cache", "execution", "engine", "contiguous"}
    assert {f"pagedkv.{room}" for room in rooms} <= set(ENGINE)
    assert len(SOURCES) > 60


@pytest.mark.parametrize("module", modules("kernels"))
def test_kernels_import_nothing_of_ours_but_kernels(module):
    assert all(within(name, ("kernels",)) for name in ours(module))


@pytest.mark.parametrize("module", [*ENGINE, "pagedkv"])
def test_the_engine_knows_kernels_and_model_and_nothing_above_it(module):
    assert not [name for name in ours(module) if within(name, LLAMA + TRACE + ABOVE_TRACE)]


@pytest.mark.parametrize("module", modules(*MODEL))
def test_the_model_knows_neither_cache_nor_kernels(module):
    assert all(within(name, MODEL) for name in ours(module) - {"pagedkv", "pagedkv.language_model"})


@pytest.mark.parametrize("module", modules(*LLAMA))
def test_real_models_know_the_network_and_no_engine(module):
    assert packages(module).isdisjoint({"kernels", "triton"})
    known = {"pagedkv", "pagedkv.language_model", "pagedkv.checks"}
    assert all(within(name, LLAMA + MODEL) for name in ours(module) - known)


@pytest.mark.parametrize("module", modules(*TRACE))
def test_traces_know_no_lesson_player_or_figure(module):
    assert not [name for name in ours(module) if within(name, ABOVE_TRACE)]


@pytest.mark.parametrize("module", modules("pagedkv.trace"))
def test_the_types_of_a_trace_know_neither_torch_nor_the_engine(module):
    assert packages(module).isdisjoint({"torch", "triton", "kernels"})
    known = {"pagedkv.events", "pagedkv.settings", "pagedkv"}
    assert all(within(name, ("pagedkv.trace",)) for name in ours(module) - known)


@pytest.mark.parametrize("module", modules("pagedkv.lessons"))
def test_lessons_know_no_figure_and_no_player(module):
    assert not [n for n in ours(module) if within(n, ("pagedkv.figures", "pagedkv.player"))]


@pytest.mark.parametrize("module", modules("pagedkv.player", "pagedkv.figures"))
def test_player_and_figures_read_traces_and_know_neither_torch_nor_engine_nor_scripts(module):
    assert packages(module).isdisjoint({"torch", "triton", "kernels", "safetensors"})
    readable = (
        "pagedkv.trace",
        "pagedkv.events",
        "pagedkv.settings",
        "pagedkv.terms",
        "pagedkv.player",
        "pagedkv.figures",
    )
    assert [name for name in ours(module) - {"pagedkv"} if not within(name, readable)] == []


@pytest.mark.parametrize("module", modules("pagedkv.player"))
def test_the_player_knows_no_figure(module):
    assert not [name for name in ours(module) if within(name, ("pagedkv.figures",))]


@pytest.mark.parametrize("module", modules("pagedkv.workloads"))
def test_workloads_count_slots_and_know_no_tensor_and_no_lesson(module):
    assert packages(module).isdisjoint({"torch", "triton", "kernels"})
    known = {f"pagedkv.{room}" for room in ("checks", "layout", "contiguous")}
    known |= {
        "pagedkv",
        "pagedkv.contiguous_buddy",
        "pagedkv.number_from_text",
        "pagedkv.trace.written",
    }
    assert [n for n in ours(module) - known if not within(n, ("pagedkv.workloads",))] == []


@pytest.mark.parametrize("module", modules("pagedkv.planner"))
def test_the_planner_is_arithmetic_and_knows_nobody(module):
    assert packages(module).isdisjoint({"torch", "triton", "kernels"})
    assert [n for n in ours(module) - {"pagedkv"} if not within(n, ("pagedkv.planner",))] == []


def test_only_pages_and_app_import_streamlit():
    users = {module for module in SOURCES if "streamlit" in packages(module)}
    assert users
    assert all(module == "app" or within(module, ("pages",)) for module in users)


def test_plotly_is_imported_in_figures_only():
    users = {module for module in SOURCES if "plotly" in packages(module)}
    assert users
    assert all(within(module, ("pagedkv.figures",)) for module in users)


def test_nothing_of_ours_imports_the_tests():
    assert not [module for module in SOURCES if "tests" in packages(module)]


def test_importing_pagedkv_pulls_in_neither_plotly_nor_streamlit():
    script = (
        "import sys, pagedkv, pagedkv.recorder, pagedkv.lessons, pagedkv.player\n"
        "print([name for name in ('plotly', 'streamlit') if name in sys.modules])"
    )
    done = run_python(script)
    assert done.stdout.strip() == "[]", done.stderr


def test_every_module_can_be_the_first_one_imported():
    """A cycle shows only from one of its ends."""
    names = [name for name in modules("pagedkv") if not name.endswith("__main__")]
    script = f"""
import importlib, sys
import kernels, torch
for name in {names}:
    for loaded in [m for m in sys.modules if m.split(".")[0] == "pagedkv"]:
        del sys.modules[loaded]
    importlib.import_module(name)
print("all")
"""
    done = run_python(script)
    assert done.stdout.strip() == "all", done.stderr


def run_python(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)


@pytest.mark.parametrize("page", sorted((PROJECT / "pages").glob("*.py")), ids=lambda p: p.name)
def test_no_page_bears_the_name_of_a_module(page):
    """Streamlit puts pages/ first on the path, so it would be imported in the module's place."""
    assert page.stem not in {name.rpartition(".")[2] for name in modules("pagedkv", "kernels")}
    assert page.stem not in sys.stdlib_module_names
    found = importlib.util.find_spec(page.stem)  # a test of pages may have put them on the path
    assert found is None or Path(found.origin).parent == PROJECT / "pages"


def test_the_app_is_an_entry_and_nothing_else():
    tree = ast.parse((PROJECT / "app.py").read_text())
    kinds = [type(node) for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    assert kinds == [ast.Expr, ast.Assign]  # the docstring, and app = st.App(...)


@pytest.mark.parametrize("module", SOURCES)
def test_a_module_says_what_it_is_for(module):
    docstring = ast.get_docstring(ast.parse(SOURCES[module].read_text()))
    assert docstring and docstring.split("\n\n")[0].endswith((".", "?"))


def functions(module: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(SOURCES[module].read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("jit" in ast.unparse(decorator) for decorator in function.decorator_list)


@pytest.mark.parametrize("module", SOURCES)
def test_functions_fit_on_a_screen(module):
    too_long = {
        function.name: lines
        for function in functions(module)
        if (lines := function.end_lineno - function.lineno + 1) > LONGEST_FUNCTION
        and not is_kernel(function)
    }
    assert too_long == {}


@pytest.mark.parametrize("module", SOURCES)
def test_files_have_one_idea_each(module):
    assert len(SOURCES[module].read_text().splitlines()) <= LONGEST_FILE


def tracked_texts() -> dict[str, str]:
    """Every text file that is part of the project, by its path."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    texts = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = PROJECT / name
        data = path.read_bytes() if path.is_file() else b"\0"
        if b"\0" not in data:
            texts[name] = data.decode()
    return texts


# Put together here, so that this file does not contain what it looks for.
FOREIGN = {
    "a path of one machine": r"(?<![\w.])/" + r"(?:work|home|Users|root)/\w",
    "a package registry": "|".join(
        re.escape(host)
        for host in (
            "pypi" + ".org",
            "pythonhosted" + ".org",
            "registry.npmjs" + ".org",
            "jsdelivr" + ".net",
            "unpkg" + ".com",
            "proxy.golang" + ".org",
        )
    ),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_no_file_names(what):
    texts = tracked_texts()
    assert "README.md" in texts
    found = {
        name: match[0] for name, text in texts.items() if (match := re.search(FOREIGN[what], text))
    }
    assert found == {}
