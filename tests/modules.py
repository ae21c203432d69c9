"""The modules of packages, what they import, and the layers on which they stand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from graphlib import TopologicalSorter
from pathlib import Path


class Modules:
    """The modules of packages, by their dotted names; none is parsed before it is asked for."""

    def __init__(self, *packages: Path) -> None:
        """Read them."""
        paths = {
            self.name_of(path, package): path
            for package in packages
            for path in sorted(package.rglob("*.py"))
            # What a wheel brings along is no module.
            if "_assets" not in path.parts
        }
        self.sources = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
        self.folders = frozenset(name for name, path in paths.items() if path.name == "__init__.py")
        first = "|".join(package.name for package in packages)
        self.named = re.compile(rf"((?:{first})(?:\.\w+)+)(?::\w+)?")
        """A module, or something in it, that is named by text: it is imported by that."""
        self.tree_of = cache(self._tree_of)
        self.imported = cache(self._imported)

    @staticmethod
    def name_of(path: Path, package: Path) -> str:
        """Return the dotted name of a module."""
        parts = path.relative_to(package.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def of(self, package: str) -> Iterator[str]:
        """Return the modules in a package."""
        return (module for module in self.sources if f"{module}.".startswith(f"{package}."))

    def _tree_of(self, module: str) -> ast.Module:
        """Return the syntax of a module."""
        return ast.parse(self.sources[module])

    def _imported(self, module: str) -> frozenset[str]:
        """Return the names of every module that a module imports, wherever in it."""
        return frozenset(self._imports(module))

    def _imports(self, module: str) -> Iterator[str]:
        """Name what a module imports, be it by text."""
        for node in ast.walk(self.tree_of(module)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = self.named.fullmatch(node.value)
                if named and named[1] in self.sources:
                    yield named[1]
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield inner if inner in self.sources else node.module or ""

    def libraries(self, module: str) -> set[str]:
        """Return the packages a module imports, by their first names."""
        return {target.partition(".")[0] for target in self.imported(module)}

    def imported_of(self, package: str, module: str) -> Iterator[str]:
        """Return the modules in a package that a module imports."""
        return (target for target in self.imported(module) if target.startswith(f"{package}."))

    def calls_of(self, function: str) -> Iterator[str]:
        """Return the modules that call what has a name, once for each call."""
        return (
            module
            for module in self.sources
            for node in ast.walk(self.tree_of(module))
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(function)
        )


class Layers:
    """The packages of a house on layers, the lowest first; those on one layer know no other of it.

    In a family each folder is a package of its own, on the layer `FAMILY.*`.
    """

    def __init__(
        self, house: str, layers: Sequence[Sequence[str]], family: str, modules: Modules
    ) -> None:
        """Take the layers of the modules of a house."""
        self.house = house
        self.layers = layers
        self.family = family
        self.modules = modules

    @cached_property
    def packages(self) -> frozenset[str]:
        """Return the packages that are named on layers."""
        return frozenset(package for layer in self.layers for package in layer)

    def package_of(self, module: str) -> str:
        """Return the package of a module: the longest name on the layers that it begins with."""
        member = ".".join(module.split(".")[: self.family.count(".") + 2])
        if (
            module.startswith(f"{self.family}.")
            and member in self.modules.folders
            and member not in self.packages
        ):
            return member
        return max(
            (package for package in self.packages if f"{module}.".startswith(f"{package}.")),
            key=len,
        )

    def layer_of(self, package: str) -> int:
        """Return the number of the layer of a package."""
        family = f"{package.rpartition('.')[0]}.*"
        return next(
            number
            for number, packages in enumerate(self.layers)
            if package in packages or (package not in self.packages and family in packages)
        )

    def in_packages(self, *packages: str) -> Iterator[str]:
        """Return the names of all modules in these packages."""
        return (
            module for module in self.modules.of(self.house) if self.package_of(module) in packages
        )

    def pairs(self, modules: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Return modules of the house, each with every other one of it that it imports."""
        return (
            (module, target)
            for module in modules
            for target in self.modules.imported_of(self.house, module)
            if target != module
        )

    def demand_no_circle(self) -> None:
        """Raise CycleError, which names the modules, if some import each other in a circle."""
        sorter = TopologicalSorter[str]()
        for module, target in self.pairs(self.modules.of(self.house)):
            sorter.add(module, target)
        sorter.prepare()

    def upward(self) -> list[str]:
        """Return the imports that do not point down."""
        return [
            f"{module} imports {target}"
            for module, target in self.pairs(self.modules.of(self.house))
            if self.package_of(target) != self.package_of(module)
            and self.layer_of(self.package_of(target)) >= self.layer_of(self.package_of(module))
        ]
