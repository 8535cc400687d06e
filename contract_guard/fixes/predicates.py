"""CG303: a condition that production has a helper for becomes a call of the helper."""

import ast

from contract_guard.facts.model import Predicate, Unreadable
from contract_guard.facts.reader import read
from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.literals import imported_name
from contract_guard.fixes.model import CannotFix, Fix, Knowledge
from contract_guard.registry.index import Registry
from contract_guard.registry.rules import Rule, rules_of


def called_helper(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """Unsafe: the test no longer says by itself what production should do."""
    rule = predicate_at(knowledge.registry, file.path, finding.line)
    if rule.predicate.subject is None:
        raise CannotFix("the condition tests more than one thing")
    helper = helper_for(rule, knowledge)
    name, edits = imported_name(file, helper, knowledge)
    call = f"{name}({rule.predicate.subject})"
    title = f"`{helper}` is called in place of its copy"
    return Fix("unsafe", title, (*edits, file.edit(rule.predicate.span, call)))


def predicate_at(registry: Registry, path: str, line: int) -> Rule:
    """The condition over production constants on a line. Raises CannotFix where there is none, or
    more than one."""
    found = [
        rule
        for rule in rules_of(registry, path)
        if rule.predicate.span.line <= line <= rule.predicate.span.end_line
    ]
    if not found:
        raise CannotFix(
            "no condition over constants whose values are known stands there: "
            "--extract is for what CG303 reports"
        )
    if len({rule.predicate.span for rule in found}) > 1:
        raise CannotFix("several conditions stand there")
    return found[0]


def helper_for(rule: Rule, knowledge: Knowledge) -> str:
    """The one function of production whose whole body returns the same condition over its first
    parameter, by symbol."""
    registry = knowledge.registry
    found: set[str] = set()
    names = {symbol.rpartition(":")[2] for symbol in rule.constants}
    for path, facts in registry.facts():
        if registry.layout.is_test(path) or names.isdisjoint(facts.loaded_names):
            continue
        for other in rules_of(registry, path):
            if (other.constants, other.accepts) != (rule.constants, rule.accepts):
                continue
            scope = facts.scopes[other.predicate.scope]
            is_top = scope.kind == "function" and "." not in scope.qualname
            if is_top and is_helper(knowledge.read(path), other.predicate):
                found.add(f"{registry.module(path).name}:{scope.qualname}")
    if not found:
        raise CannotFix("production has no function that returns just this condition")
    if len(found) > 1:
        raise CannotFix("production has several functions for it: " + ", ".join(sorted(found)))
    return found.pop()


def is_helper(source: bytes, predicate: Predicate) -> bool:
    """Whether the function around a condition does nothing but return it for its only parameter."""
    parsed = read(source)
    assert not isinstance(parsed, Unreadable)
    text, tree = parsed
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and text.span(node)[:2] < predicate.span[:2]:
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            returned = body[0].value if body and isinstance(body[0], ast.Return) else None
            arguments = [*node.args.posonlyargs, *node.args.args]
            if returned is not None and text.span(returned) == predicate.span:
                return (
                    len(body) == len(arguments) == 1
                    and not node.decorator_list
                    and arguments[0].arg == predicate.subject
                )
    return False
