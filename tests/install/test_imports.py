"""Every import of src is declared, by the extra that the error line names."""

import ast
import sys

from declared import EXTRAS, ROOT, distributions, modules

SRC = ROOT / "src" / "noiseproof"
CORE = modules(distributions())
FILES = sorted(SRC.rglob("*.py"))

#: Files that one other file alone imports, which asks in their place.
IMPORTED_BY = {
    "bench/engines/ray_cluster.py": "bench/engines/engine.py",
    "bench/engines/ray_engine.py": "bench/engines/engine.py",
}


def third_party(tree):
    """Modules that a file imports when it runs, with the lines."""
    checked_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in checked_only:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        else:
            continue
        for name in names:
            top = name.split(".")[0]
            if top not in {*sys.stdlib_module_names, "noiseproof", *CORE}:
                yield node.lineno, top


def asked_for(path):
    """Pairs of an extra, or None, and a module, of the calls of need and missing in a file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            words = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if node.func.id == "need":
                yield from ((words[0], module) for module in words[1:])
            elif node.func.id == "missing":
                yield from ((None, module) for module in words)


def needs(path):
    """What a file asks for, itself or by the rooms it is in."""
    rooms = [p / "__init__.py" for p in path.parents if SRC in p.parents]
    if importer := IMPORTED_BY.get(path.relative_to(SRC).as_posix()):
        rooms.append(SRC / importer)
    return {module for file in (path, *rooms) for _, module in asked_for(file)}


def test_a_file_asks_for_the_extra_of_what_it_imports():
    missed = [
        f"{path.relative_to(SRC)}:{line}: {module}"
        for path in FILES
        for line, module in third_party(ast.parse(path.read_text("utf-8")))
        if module not in needs(path)
    ]
    assert not missed, "\n".join(missed)


def test_the_extra_that_is_named_installs_the_module():
    asked = {pair for path in FILES for pair in asked_for(path) if pair[0] is not None}
    assert {extra for extra, _ in asked} <= set(EXTRAS)
    assert [(e, m) for e, m in sorted(asked) if m not in modules(distributions(e))] == []


def test_all_has_every_extra_for_users():
    assert distributions("all") == distributions(*(set(EXTRAS) - {"all", "dev"}))
