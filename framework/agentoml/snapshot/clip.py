"""A snapshot under a ceiling: what is left out is not there, whatever names it. Pure; it only ever narrows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from attrs import evolve

from agentoml.config.diagnostics.locate import place
from agentoml.config.policy import Ceiling as Written
from agentoml.config.problems import Problem, quoted
from agentoml.snapshot.ceiling import OPEN, Ceiling, ceiling_of, host_asked, remains
from agentoml.snapshot.memo import Memo
from agentoml.snapshot.snapshot import NEVER, ON, Option, Snapshot

MOST_SHOWN = 5


def under(snapshot: Snapshot, ceiling: Ceiling) -> Snapshot:
    """Return the snapshot without what the ceiling leaves out."""
    if ceiling == OPEN:
        return snapshot
    providers = {name: one for name, one in snapshot.providers.items() if ceiling.allows_provider(name, one)}
    servers = {name: one for name, one in snapshot.servers.items() if ceiling.allows_server(name, one)}
    models = {
        key: model
        for key, model in snapshot.models.items()
        if model.provider in providers and remains(ceiling.models, key)
    }
    starred = {key: model for key, model in snapshot.models.starred.items() if model.provider in providers}
    gone: Mapping[str, set[str]] = {
        "models": set(snapshot.models) - set(models),
        "providers": set(snapshot.providers) - set(providers),
        "mcp": set(snapshot.servers) - set(servers),
    }
    return evolve(
        snapshot,
        ceiling=ceiling,
        base=evolve(
            snapshot.base,
            patch=evolve(snapshot.base.patch, limits=(*snapshot.base.patch.limits, *ceiling.limits)),
        ),
        models=snapshot.models.only(models, starred, ceiling.models),
        model_values=MappingProxyType({key: one for key, one in snapshot.model_values.items() if key in models}),
        providers=MappingProxyType(providers),
        servers=MappingProxyType(servers),
        permissions=MappingProxyType({**snapshot.permissions, **{one.name: one for one in ceiling.sets}}),
        options=MappingProxyType({name: _option(option, gone) for name, option in snapshot.options.items()}),
        resolved=Memo(snapshot.resolved.size),
        outcomes=Memo(snapshot.outcomes.size),
        listings=Memo(snapshot.listings.size),
    )


def clipped(before: Snapshot, policies: Sequence[Written]) -> Iterator[Problem]:
    """Yield at each key of a policy what it leaves out of a snapshot."""
    for one in policies:
        alone = under(before, ceiling_of([one]))
        found = {
            "models": [key for key in before.models if key not in alone.models],
            "providers": [name for name in before.providers if name not in alone.providers],
            "mcp": [name for name in before.servers if name not in alone.servers],
        }
        for key, names in found.items():
            written = key if getattr(one.policy, key) is not None else "hosts" if one.policy.hosts else "providers"
            if names and getattr(one.policy, written) is not None:
                message = f"the policy leaves out {_listed(names)} of [{key}]"
                nameless = [name for name in names if key == "providers" and host_asked(before.providers[name]) is None]
                hint = f"nothing says which host {_listed(nameless)} asks: write its `base_url`" if nameless else ""
                problem = Problem("AGT352", message, ("policy", written), hint=hint, severity="warning")
                yield place([problem], one.text)[0]


def why_no_model(snapshot: Snapshot) -> str:
    """Return what is told where a snapshot has no model in force."""
    if snapshot.models.is_cut:
        return f"the policy of {', '.join(snapshot.ceiling.files)} leaves no model: `agentoml check` says what and why"
    return "this agent declares no models: write [models.NAME], or [catalogs.NAME] with `discover`"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(quoted(name) for name in names[:MOST_SHOWN])
    return shown if len(names) <= MOST_SHOWN else f"{shown} and {len(names) - MOST_SHOWN} more"


def _option(option: Option, gone: Mapping[str, set[str]]) -> Option:
    """Return an option without the entries of its source that are gone, or never there if it only switches those."""
    lost = gone.get(option.source or "", set())
    if option.kind == "boolean":
        switched = option.keys(option.values[ON])
        useless = switched and all(key[0] == "mcp" and key[1] in gone["mcp"] for key in switched)
        return evolve(option, when=NEVER) if useless else option
    if not lost & option.values.keys():
        return option
    values = {
        name: evolve(value, when=NEVER) if name in lost and value.from_source else value
        for name, value in option.values.items()
    }
    return evolve(option, values=MappingProxyType(values), conditional=True)
