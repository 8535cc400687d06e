"""What other projects may ask of a module: its names, and what it does to names of others."""

from contract_guard.facts.model import FileFragments, ModuleFacts, Span, Use

_NOWHERE = Span(1, 1, 1, 1)


def outline(facts: ModuleFacts, packages: frozenset[str]) -> ModuleFacts:
    """The facts of a file in which no finding is ever made, about a third as large.

    Its own names, imports and tests stay; what only a consumer is asked for goes. Of the uses
    those stay that lead into `packages`, the top-level packages of the file's own distribution,
    without their places, and all that assign.
    """
    kept = frozenset(
        index
        for index, found in enumerate(facts.imports)
        if found.level or found.module.partition(".")[0] in packages
    )
    return ModuleFacts(
        lines=facts.lines,
        scopes=facts.scopes,
        guards=facts.guards,
        bindings=facts.bindings,
        classes=facts.classes,
        imports=facts.imports,
        uses=tuple(
            _placeless(use)
            for use in facts.uses
            if use.context == "store" or not kept.isdisjoint(use.imported)
        ),
        loads=(),
        patches=facts.patches,
        calls=(),
        predicates=(),
        literals=(),
        pytest=facts.pytest,
        exports=facts.exports,
        exports_exact=facts.exports_exact,
        getattr_names=facts.getattr_names,
        getattr_open=facts.getattr_open,
        dynamic=facts.dynamic,
        added_names=facts.added_names,
        submodule_stubs=facts.submodule_stubs,
        loaded_names=facts.loaded_names,
        fragments=FileFragments(),
        class_decorators=facts.class_decorators,
        stored_attributes=facts.stored_attributes,
    )


def _placeless(use: Use) -> Use:
    return Use(
        imported=use.imported,
        chain=use.chain,
        context=use.context,
        span=_NOWHERE,
        ends=(),
        statement=_NOWHERE,
        scope=use.scope,
        guard=use.guard,
        called=use.called,
    )
