"""Values of constants, folded across modules."""

from contract_guard.facts.fold import NotFoldable, fold
from contract_guard.registry.members import Members
from contract_guard.registry.module import Module
from contract_guard.registry.names import Target

_MAX_CHAIN = 30


class Values:
    """Folded values of definitions, memoised."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._values: dict[tuple[Module, int], object] = {}
        self._active: set[tuple[Module, int]] = set()

    def of(self, target: Target) -> object:
        """The value that the definition folds to.

        Raises `NotFoldable` where it has none, or where evaluating it leads back to itself.
        """
        key = (target.module, id(target.binding))  # facts hash all that they hold
        if key not in self._values:
            if key in self._active or len(self._active) > _MAX_CHAIN:
                raise NotFoldable("the value depends on itself")
            self._active.add(key)
            try:
                self._values[key] = self._fold(target)
            except NotFoldable as error:
                self._values[key] = error
            finally:
                self._active.discard(key)
        value = self._values[key]
        if isinstance(value, NotFoldable):
            raise value
        return value

    def evaluate(self, module: Module, text: str) -> object:
        """The value of an expression that stands in the module. Raises `NotFoldable`."""

        def lookup(name: str) -> object:
            chain = self._members.resolve(module, name)
            targets = chain.found.targets
            if chain.found.status != "exists" or chain.depth != name.count(".") + 1:
                raise NotFoldable(f"{name} is not known")
            if len(targets) != 1:
                raise NotFoldable(f"{name} has no single definition")
            return self.of(targets[0])

        return fold(text, lookup)

    def _fold(self, target: Target) -> object:
        binding = target.binding
        if binding is None or binding.kind != "assign" or binding.value is None:
            raise NotFoldable(f"{target.symbol} has no value that can be told")
        if target.owner is None:
            return self.evaluate(target.module, binding.value)
        members = {member.name: member for member in target.owner.members}

        def lookup(name: str) -> object:
            if name in members and name != binding.name:
                return self.of(Target(target.module, members[name], target.owner))
            return self.evaluate(target.module, name)

        return fold(binding.value, lookup)
