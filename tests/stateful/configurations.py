"""Random configurations, as the tables of a TOML file. Their names come from small pools, so that a reload meets the
picks that were made before it. Some can't be used (circles, mostly), as files of people can't be.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Table = dict[str, Any]

PLAIN: Table = {
    "schema": 1,
    "providers": {"north": {"adapter": "scripted"}},
    "models": {"ant": {"provider": "north"}},
    "modes": {},
    "options": {},
    "permissions": {},
}
"""One that can be used."""

PROVIDERS = ("north", "south")
MODELS = ("ant", "bee", "cow", "dog")
LEVELS = ("low", "high", "max")
MODES = ("ask", "code", "plan")
SETS = ("firm", "mild", "odd")
PERSONAS = ("short", "long", "wild")
ACTIONS = ("allow", "ask", "always_ask", "deny")
TOOLS = {"read_file": "read", "edit_file": "edit", "fetch_url": "fetch", "update_plan": "think"}
KINDS = tuple(TOOLS.values())
ALL_SETS = (*SETS, "standard", "no-changes", "everything", "nothing")

actions = st.sampled_from(ACTIONS)


def some(names: tuple[str, ...], least: int = 0) -> st.SearchStrategy[list[str]]:
    """Some of the names, in any order."""
    return st.lists(st.sampled_from(names), unique=True, min_size=least, max_size=len(names))


def maybe(**entries: st.SearchStrategy[Any]) -> st.SearchStrategy[Table]:
    """Any of these entries."""
    return st.fixed_dictionaries({}, optional=entries)


def filled(*tables: st.SearchStrategy[Table]) -> st.SearchStrategy[Table]:
    """All of these entries in one table."""
    return st.tuples(*tables).map(lambda found: {key: value for table in found for key, value in table.items()})


rules = st.dictionaries(
    st.sampled_from(("r1", "r2", "r3")),
    st.builds(
        lambda tool, action: {"tool": tool, "action": action},
        st.sampled_from((*TOOLS, "*_file", "*", "!edit_*")),
        actions,
    ),
    max_size=2,
)
permission_sets = maybe(
    default=actions, kinds=st.dictionaries(st.sampled_from(KINDS), actions, max_size=2), rules=rules
)

patches = maybe(
    model=st.sampled_from(MODELS[:2]),
    reasoning=st.sampled_from(LEVELS[:1]),
    permissions=st.sampled_from(ALL_SETS) | some(ALL_SETS, 1),
    auto_answers=some(ALL_SETS, 1).map(lambda names: {"add": names}),
    instructions_append=st.sampled_from(("Be kind.", "Be brief.")),
    params=st.sampled_from(({"tier": "fast"}, {"tier": "slow"}, {"top": {"k": 1}})),
)
preselections = maybe(
    model=st.sampled_from(MODELS[:2]),
    level=st.sampled_from(LEVELS[:2]),
    persona=st.sampled_from(PERSONAS),
    flag=st.booleans(),
    guard=st.sampled_from(SETS),
)
conditions = st.one_of(
    st.sampled_from(({"client": "zed*"}, {"client": "!zed*"}, {"client": "emacs"})),
    st.sampled_from(({"capability": "reasoning"}, {"capability": ["!images", "tools"]})),
    st.sampled_from(({"mode": "plan"}, {"mode": ["!ask"]}, {"flag": True}, {"persona": "long"})),
)
labels = maybe(name=st.sampled_from(("One", "Two words", "Ünï")), description=st.just("What it is for"))
seldom = st.integers(0, 5).map(lambda number: number == 0)


def values(*, lasting: bool = True) -> st.SearchStrategy[Table]:
    """What a value may say."""
    more: dict[str, st.SearchStrategy[Any]] = {"lasts": st.sampled_from(("turn", "10s", "5m"))} if lasting else {}
    return filled(labels, maybe(set=patches, preselect=preselections)).flatmap(
        lambda table: seldom.flatmap(
            lambda rare: maybe(when=conditions, hidden=st.just(True), forget=st.just(True), **more).map(
                lambda odd: {**table, **odd} if rare else table
            )
        )
    )


@st.composite
def models(draw: st.DrawFn) -> Table:
    found: Table = {}
    for key in draw(some(MODELS, 1)):
        levels = draw(some(LEVELS))
        found[key] = {
            "provider": draw(st.sampled_from(PROVIDERS)),
            **draw(labels),
            **draw(maybe(capabilities=some(("tools", "images")), status=st.sampled_from(("stable", "hidden")))),
            **({"reasoning": {"values": levels, **draw(maybe(default=st.sampled_from(levels)))}} if levels else {}),
            **draw(maybe(fallback=st.just([key_ for key_ in MODELS if key_ != key][:2]), preselect=preselections)),
        }
    for model in found.values():
        if "fallback" in model:
            model["fallback"] = [key for key in model["fallback"] if key in found]
    return found


@st.composite
def options(draw: st.DrawFn, present: tuple[str, ...]) -> Table:
    """The options of a configuration; `present` are its models."""
    makers: dict[str, st.SearchStrategy[Table]] = {
        "mode": maybe(default=st.sampled_from(MODES), description=st.just("How to go about it")),
        "model": filled(
            st.just({"values_from": "models", "category": "model"}),
            maybe(group_by=st.just("provider"), order=st.sampled_from(("name", "declared"))),
            maybe(default=st.lists(st.sampled_from((*present, "*o*")), max_size=2), lasts=st.just("turn")),
            seldom.map(lambda rare: {"filter": {"provider": "{provider}"}} if rare else {}),
        ),
        "provider": st.just({"values_from": "providers"}),
        "level": filled(
            st.just({"values_from": "model.reasoning", "category": "thought_level"}),
            st.sampled_from(({}, {"values": {"default": {"name": "Default"}}})),
            maybe(applies=st.just("next_turn")),
        ),
        "guard": st.just({"values_from": "permissions"}),
        "summary": st.just({"values_from": "models", "sets": "summary_model", "category": "model_config"}),
        "flag": filled(
            st.just({"type": "boolean"}),
            labels,
            maybe(on=values(), off=maybe(set=patches), default=st.booleans()),
            maybe(if_unsupported=st.sampled_from(("select", "omit"))),
        ),
        "persona": filled(
            st.fixed_dictionaries({"values": st.dictionaries(st.sampled_from(PERSONAS), values(), min_size=1)}),
            maybe(lasts=st.sampled_from(("turn", "1m")), applies=st.just("next_turn"), category=st.just("_tone")),
            seldom.flatmap(lambda rare: maybe(when=conditions, hidden=conditions) if rare else st.just({})),
        ),
        "servers": st.just({"each": "mcp", "name": "Servers"}),
    }
    return {name: draw(makers[name]) for name in draw(some(tuple(makers)))}


@st.composite
def configurations(draw: st.DrawFn) -> Table:
    catalog = draw(models())
    table: Table = {
        "schema": 1,
        "agent": draw(
            maybe(
                permissions=some(ALL_SETS, 1).map(lambda names: {"add": names}) | some(ALL_SETS, 1),
                auto_answers=some(ALL_SETS),
                option_order=st.just(["model", "mode"]),
                model=st.sampled_from(tuple(catalog)),
                reminder=st.just("Mind the gap."),
            )
        ),
        "providers": {name: {"adapter": "scripted"} for name in PROVIDERS},
        "models": catalog,
        "modes": draw(st.dictionaries(st.sampled_from(MODES), values(lasting=False), max_size=3)),
        "options": draw(options(tuple(catalog))),
        "permissions": {name: draw(permission_sets) for name in SETS},
        "mcp": {"docs": {"command": ["docs"], **draw(maybe(enabled=st.booleans()))}},
        "commands": draw(
            st.dictionaries(
                st.sampled_from(("go", "turn")),
                filled(
                    st.just({"description": "Do it"}),
                    st.just({"prompt": "Do it. {input}"}),
                    maybe(set=patches, preselect=preselections, switch_to=maybe(mode=st.sampled_from(MODES))),
                    seldom.flatmap(lambda rare: maybe(when=conditions) if rare else st.just({})),
                ),
            )
        ),
    }
    return _consistent(table)


def _consistent(table: Table) -> Table:
    """Leave out what names something that is not there."""
    options, modes, models = table["options"], table["modes"], table["models"]
    if not modes:
        options.pop("mode", None)
    known: dict[str, Any] = {
        "mode": tuple(modes),
        "model": tuple(models) if "model" in options else (),
        "level": {level for model in models.values() for level in model.get("reasoning", {}).get("values", ())}
        if "level" in options
        else (),
        "persona": tuple(options.get("persona", {}).get("values", ())),
        "flag": (True, False) if "flag" in options else (),
        "guard": ALL_SETS if "guard" in options else (),
    }
    if "provider" not in options and "filter" in options.get("model", {}):
        del options["model"]["filter"]
    order = [name for name in table["agent"].pop("option_order", ()) if name in options or (name == "mode" and modes)]
    table["agent"] |= {"option_order": order} if order else {}
    persona, flag = options.get("persona", {}), options.get("flag", {})
    itself = {"model": models.values(), "persona": persona.get("values", {}).values(), "flag": flag.values()}
    for option, tables in itself.items():  # circles, mostly not worth trying
        for value in tables:
            if isinstance(value, dict):
                value.get("preselect", {}).pop(option, None)
    default = options.get("mode", {}).get("default")
    if default is not None and default not in modes:
        del options["mode"]["default"]
    return _pruned(table, known, models)


def _pruned(table: Any, known: dict[str, Any], models: Table) -> Any:
    if not isinstance(table, dict):
        return table
    found: Table = {}
    levels = {level for model in models.values() for level in model.get("reasoning", {}).get("values", ())}
    for key, value in table.items():
        kept = value
        if key in ("preselect", "switch_to"):
            kept = {option: chosen for option, chosen in value.items() if chosen in known[option]}
        elif key == "set":
            kept = {name: said for name, said in value.items() if name != "model" or said in models}
            kept = {name: said for name, said in kept.items() if name != "reasoning" or said in levels}
        elif key in ("when", "hidden") and isinstance(value, dict):
            kept = {option: said for option, said in value.items() if known.get(option, True)}
            if not kept:
                continue
        else:
            kept = _pruned(value, known, models)
        found[key] = kept
    return found
