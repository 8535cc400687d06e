"""What dotted names of a project stand for: modules, and functions through the re-exports of
packages."""

from collections.abc import Iterator, Mapping, Sequence

from contract_guard.facts.model import FileFragments

_MOST = 100  # imports that are followed for one name
_INIT = "__init__.py"


class Exports:
    """The modules of a tree, and what their imports pass on."""

    def __init__(self, files: Mapping[str, FileFragments]) -> None:
        self._files = files
        self._modules: dict[str, str] = {}
        for path in files:
            name = path.removesuffix(".py").removesuffix("/__init__")
            self._modules.setdefault(name, path)

    def module(self, module: str, path: str) -> str | None:
        """The file of a module that file `path` imports, leading dots and all."""
        if module.startswith("."):
            dots = len(module) - len(module.lstrip("."))
            parts = path.split("/")[:-dots]
            return self._modules.get("/".join([*parts, *module[dots:].split(".")]).strip("/"))
        return self.dotted(module)

    def dotted(self, dotted: str) -> str | None:
        """The file of a module, or of the module that a dotted name is in."""
        parts = dotted.split(".")
        for name in ("/".join(parts), "/".join(parts[:-1])):
            for known in (name, f"src/{name}"):
                if known in self._modules:
                    return self._modules[known]
        return None

    def defined(self, dotted: str, path: str) -> Iterator[tuple[str, str]]:
        """The files that define what a dotted name in file `path` stands for, each with the name
        that it has there: a function, a class, or a method of that class."""
        dots = len(dotted) - len(dotted.lstrip("."))
        parts = dotted[dots:].split(".")
        for length in range(len(parts) - 1, -1, -1):
            prefix = dotted[:dots] + ".".join(parts[:length])
            place = self._exact(prefix, path) if prefix else None
            if place is not None:
                yield from self._in(place, parts[length:], set())
                return

    def _exact(self, module: str, path: str) -> str | None:
        if module.startswith("."):
            return self.module(module, path)
        name = module.replace(".", "/")
        return self._modules.get(name) or self._modules.get(f"src/{name}")

    def _in(
        self, path: str, parts: Sequence[str], seen: set[tuple[str, ...]]
    ) -> Iterator[tuple[str, str]]:
        first, rest = parts[0], parts[1:]
        if any(f.qualname.partition(".")[0] == first for f in self._files[path].functions):
            yield path, parts[-1]
            return
        if (path, *parts) in seen or len(seen) >= _MOST:
            return
        seen.add((path, *parts))
        if rest and path.endswith(_INIT):
            child = self._modules.get(f"{path.removesuffix(f'/{_INIT}')}/{first}")
            if child is not None:
                yield from self._in(child, rest, seen)
                return
        renamed = self._files[path].renamed
        for bound, dotted in renamed:
            if bound == first:
                yield from self._through(dotted, path, rest, seen)
        for module, name in self._files[path].imports:
            if name == first:
                dot = "" if module.endswith(".") else "."
                dotted = f"{module}{dot}{name}"
                if all(dotted != other for _, other in renamed):
                    yield from self._through(dotted, path, rest, seen)
            elif name == "*":
                target = self.module(module, path)
                if target is not None and target != path:
                    yield from self._in(target, parts, seen)

    def _through(
        self, dotted: str, path: str, rest: Sequence[str], seen: set[tuple[str, ...]]
    ) -> Iterator[tuple[str, str]]:
        """What an imported name stands for, or a name inside of it."""
        place = self._exact(dotted, path)
        if place is not None and rest:
            yield from self._in(place, rest, seen)
            return
        module, _, name = dotted.rpartition(".")
        if module.endswith(".") or not module:
            module += "."
        target = self._exact(module, path)
        if target is not None and target != path:
            yield from self._in(target, [name, *rest], seen)
