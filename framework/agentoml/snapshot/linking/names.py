"""Every name in a configuration names something: what does not is a problem, with the nearest name as a hint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from attrs import frozen

from agentoml.config.problems import Path, Problem, did_you_mean, quoted
from agentoml.config.schema import Config, Option
from agentoml.config.structuring.shape import KINDS
from agentoml.config.vocabulary.notation import CAPABILITIES, Condition, ListEdit
from agentoml.config.vocabulary.profile import ProfileKeys
from agentoml.snapshot.linking import sources
from agentoml.snapshot.linking.option_tables import OptionTable
from agentoml.snapshot.linking.values import NO_SET
from agentoml.snapshot.precedence import is_glob
from agentoml.snapshot.snapshot import Catalog
from agentoml.snapshot.snapshot import Option as BuiltOption
from agentoml.snapshot.tool_names import BUILT_IN_KINDS

Found = Iterator[Problem]
CONDITION_WORDS = ("client", "capability", "trusted", "credentials")


MOST_LISTED = 12
"""How many names a hint lists; of more it names the nearest only."""


def unknown(name: str, what: str, path: Path, names: Iterable[str], *, at_key: bool = False) -> Problem:
    """Return that a name names nothing, and what there is instead."""
    at: Literal["key", "value"] = "key" if at_key else "value"
    return Problem("AGT201", f"there is no {what} {quoted(name)}", path, hint=_instead(name, names), at=at)


def no_value(name: str, option: BuiltOption, path: Path, *, code: str = "AGT201") -> Problem:
    """Return that a name is no value of an option, and what is."""
    message = f"{quoted(name)} is no value of the option {quoted(option.id)}"
    return Problem(code, message, path, hint=_instead(name, option.known))


def _instead(name: str, names: Iterable[str]) -> str:
    known = tuple(dict.fromkeys(names))
    return did_you_mean(name, known) or (f"there are: {', '.join(known)}" if 0 < len(known) <= MOST_LISTED else "")


@frozen
class Names:
    """All names of a configuration."""

    config: Config
    catalog: Catalog
    tables: Mapping[str, OptionTable]
    options: Mapping[str, BuiltOption]

    # ------------------------------------------------------------------------------------------- what is set

    def profile(self, keys: ProfileKeys, path: Path) -> Found:
        """Check a `set`, or the base."""
        if keys is NO_SET:
            return
        for key in ("model", "summary_model"):
            name = getattr(keys, key)
            if name is not None and name not in self.catalog:
                yield unknown(name, "model", (*path, key), self.catalog)
        yield from self._of_some_model(keys.reasoning, "reasoning level", (*path, "reasoning"))
        yield from self._of_some_model(keys.variant, "variant", (*path, "variant"))
        for name in keys.mcp:
            if not is_glob(name) and name not in self.config.mcp:
                yield unknown(name, "MCP server", (*path, "mcp", name), self.config.mcp, at_key=True)
        for key in ("permissions", "auto_answers"):
            yield from self._listed(getattr(keys, key), "permission set", (*path, key), self.config.permissions)
        yield from self._listed(keys.commands, "command", (*path, "commands"), self.config.commands, globs=True)
        for where, selector in _items(keys.tools, (*path, "tools")):
            yield from self.selector(selector, where)

    def _of_some_model(self, name: str | None, what: str, path: Path) -> Found:
        """Check a reasoning level or a variant: some model must have it."""
        if name is None:
            return
        models = self.catalog.everything()
        known = {one for model in models for one in (model.levels if what == "reasoning level" else model.variants)}
        if name not in known:
            yield unknown(name, what, path, sorted(known))

    def _listed(
        self, edit: ListEdit | None, what: str, path: Path, names: Iterable[str], *, globs: bool = False
    ) -> Found:
        for where, name in _items(edit, path):
            plain = name.removeprefix("!") if globs else name
            if plain not in names and not (globs and is_glob(plain)):
                yield unknown(plain, what, where, names)

    def selector(self, selector: str, path: Path) -> Found:
        """Check a selector of tools: a name or glob, `kind:read`, `mcp:server/tool`."""
        plain = selector.removeprefix("!")
        if plain.startswith("kind:"):
            kind = plain[5:]
            if not is_glob(kind) and kind not in KINDS:
                yield unknown(kind, "kind of tool", path, KINDS)
        elif plain.startswith("mcp:"):
            server = plain[4:].partition("/")[0]
            if not is_glob(server) and server not in self.config.mcp:
                yield unknown(server, "MCP server", path, self.config.mcp)
        elif not is_glob(plain) and plain not in (names := (*BUILT_IN_KINDS, *self.config.tools)):
            yield unknown(plain, "tool", path, names)

    def tool(self, tool: str, path: Path) -> Found:
        """Check the name of one tool: `shell`, `mcp:server/tool`."""
        if tool.startswith(("kind:", "!")) or is_glob(tool):
            yield Problem("AGT110", f"{quoted(tool)} is not the name of a tool", path, hint="name one tool")
        else:
            yield from self.selector(tool, path)

    # ------------------------------------------------------------------------------------------------ picks

    def picks(self, picks: Mapping[str, Any], path: Path) -> Found:
        """Check what `preselect` or `switch_to` chooses."""
        for option_id, value in picks.items():
            option = self.options.get(option_id)
            if option is None:
                yield unknown(option_id, "option", (*path, option_id), self.options, at_key=True)
            else:
                yield from self.value_of(option, value, (*path, option_id))

    def value_of(self, option: BuiltOption, value: Any, path: Path, *, code: str = "AGT201") -> Found:
        """Check that a value is one of an option."""
        if option.kind == "boolean":
            if not isinstance(value, bool):
                yield Problem("AGT102", f"the option {quoted(option.id)} is true or false", path)
        elif isinstance(value, bool):
            yield Problem(
                "AGT102", f"the option {quoted(option.id)} is not a boolean", path, hint="write the id of a value"
            )
        elif not self._is_value(option, str(value)):
            yield no_value(str(value), option, path, code=code)

    def _is_value(self, option: BuiltOption, value: str) -> bool:
        return (
            option.open
            or value in option.known
            or (option.source == "models" and self.catalog.key_of(value) in option.known)
        )

    # ------------------------------------------------------------------------------------------- conditions

    def condition(self, condition: Condition, path: Path, *, of_provider: bool = False) -> Found:
        """Check a condition. `of_provider`: it stands where there are credentials to speak of."""
        for about, wanted in condition.items():
            here = (*path, about)
            if about in ("trusted", "credentials"):
                if about == "credentials" and not of_provider:
                    yield Problem("AGT110", "`credentials` are those of a model or provider", here, at="key")
                elif not isinstance(wanted, bool):
                    yield Problem("AGT102", f"`{about}` is true or false", here)
            elif about in ("client", "capability"):
                if isinstance(wanted, bool):
                    yield Problem("AGT102", f"`{about}` is a pattern", here, hint=f'write {about} = "..."')
                elif about == "capability":
                    yield from self._capabilities(tuple(wanted), here)
            elif about not in self.options:
                yield unknown(about, "option", here, (*self.options, *CONDITION_WORDS), at_key=True)
            else:
                yield from self._about_option(self.options[about], wanted, here)

    def _about_option(self, option: BuiltOption, wanted: Any, path: Path) -> Found:
        if option.kind == "boolean" or isinstance(wanted, bool):
            yield from self.value_of(option, wanted, path)
            return
        known = {value.casefold() for value in option.known}
        for index, pattern in enumerate(wanted):
            plain = pattern.removeprefix("!")
            if not is_glob(plain) and plain.casefold() not in known and not self._is_value(option, plain):
                where = (*path, index) if len(wanted) > 1 else path
                yield no_value(plain, option, where)

    def _capabilities(self, patterns: tuple[str, ...], path: Path) -> Found:
        for pattern in patterns:
            plain = pattern.removeprefix("!").casefold()
            if not is_glob(plain) and plain not in CAPABILITIES and not plain.startswith("_"):
                yield unknown(plain, "capability", path, CAPABILITIES)

    # ---------------------------------------------------------------------------------------------- options

    def option(self, table: OptionTable) -> Found:
        """Check what an option says beside its values."""
        written, option, path = table.written, self.options[table.id], table.path
        yield from self.condition(written.when, (*path, "when"))
        if not isinstance(written.hidden, bool):
            yield from self.condition(written.hidden, (*path, "hidden"))
        yield from self._default(option, written, path)
        yield from self._source(written, path)
        yield from self._open(option, written, path)

    def _default(self, option: BuiltOption, written: Option, path: Path) -> Found:
        chain = written.default if isinstance(written.default, tuple) else (written.default,)
        for index, link in enumerate(chain):
            here: Path = (*path, "default", index) if isinstance(written.default, tuple) else (*path, "default")
            value = link
            if link is not None and not isinstance(link, str | bool):
                yield from self.condition(link.when, (*here, "when"))
                value, here = link.value, (*here, "value")
            if isinstance(value, str) and option.kind == "select" and not is_glob(value):
                yield from self.value_of(option, value, here, code="AGT205")

    def _source(self, written: Option, path: Path) -> Found:
        source = written.values_from
        if source is None:
            if not written.values and written.type == "select" and written.each is None and not written.open:
                yield Problem(
                    "AGT104", "an option needs values", path, hint="write `values`, `values_from` or `type`", at="key"
                )
            return
        fields = sources.fields_of(source)
        for field, patterns in written.filter.items():
            if field not in fields:
                yield unknown(field, f"field of {source}", (*path, "filter", field), fields, at_key=True)
            for name in (name for text in patterns for name in re.findall(r"\{([^{}]*)\}", text)):
                if name not in self.options:
                    yield unknown(name, "option", (*path, "filter", field), self.options)
        if written.group_by is not None and written.group_by not in fields:
            yield unknown(written.group_by, f"field of {source}", (*path, "group_by"), fields)

    def _open(self, option: BuiltOption, written: Option, path: Path) -> Found:
        """Where listed values set permissions, what is not listed must too: it would lift them otherwise."""
        listed = [value for value in (*option.values.values(), *_per_model(option)) if value.patch.permissions]
        if not option.open or not (listed or option.target == "permissions"):
            return
        hint = "write `set = { permissions = ... }` there"
        if option.source == "models":
            for star, value in option.starred.items():
                if not value.patch.permissions and not (option.other and option.other.patch.permissions):
                    message = f"listed models set permissions, so must {quoted(star)}, which serves other ones"
                    yield Problem("AGT206", message, ("models", star), hint=hint, at="key")
        elif option.other is None or not option.other.patch.permissions:
            here = (*path, "other") if written.other is not None else path
            message = f"values of the open option {quoted(option.id)} set permissions, so must `other`"
            yield Problem("AGT206", message, here, hint=hint, at="key")


def _per_model(option: BuiltOption) -> Iterator[Any]:
    for values in option.per_model.values():
        yield from values


def _items(edit: ListEdit | None, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the names of a list or of an edit of one, each with its place."""
    if edit is None:
        return
    for index, name in enumerate(edit.replace or ()):
        yield (*path, index), name
    for key in ("add", "remove"):
        for index, name in enumerate(getattr(edit, key)):
            yield (*path, key, index), name
