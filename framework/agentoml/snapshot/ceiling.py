"""Policies -> one ceiling: what remains of models, providers, servers and hosts, budgets, rules that no mode lifts."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from agentoml.config.globs import EXCLUDES, selects
from agentoml.config.policy import Ceiling as Written
from agentoml.config.schema import McpServer, Provider
from agentoml.config.vocabulary.profile import Limits
from agentoml.models.urls import host_of
from agentoml.permissions.sets import ReadyRule, ReadySet, compile_set

Lists = tuple[tuple[str, ...], ...]
"""Lists of globs, one a policy: what remains is selected by all of them."""


@frozen
class Ceiling:
    """What the policies of `files` together leave. `sets`: what their rules deny, always ask or ask, no mode lifts."""

    files: tuple[str, ...] = ()
    models: Lists = ()
    providers: Lists = ()
    servers: Lists = ()
    hosts: Lists = ()
    limits: tuple[Limits, ...] = ()
    sets: tuple[ReadySet, ...] = ()

    def allows_host(self, host: str | None) -> bool:
        """Return whether a host may be reached; one that is not known may not where hosts are limited."""
        return not self.hosts or (host is not None and remains(self.hosts, host))

    def allows_provider(self, name: str, provider: Provider) -> bool:
        """Return whether a provider remains, and the host that it asks."""
        here = not self.hosts or provider.adapter == "scripted" or self.allows_host(host_asked(provider))
        return here and remains(self.providers, name)

    def allows_server(self, name: str, server: McpServer) -> bool:
        """Return whether an MCP server remains, and its host if it has one."""
        return remains(self.servers, name) and (server.url is None or self.allows_host(host_of(server.url)))


OPEN = Ceiling()


def ceiling_of(policies: Sequence[Written]) -> Ceiling:
    """Return all policies as one ceiling."""
    said = [one.policy for one in policies]
    rules = (
        _strict(f"{one.text.name}: {name}", compile_set(name, table))
        for one in policies
        for name, table in one.sets.items()
    )
    hosts = tuple(policy.hosts for policy in said if policy.hosts is not None)
    return Ceiling(
        files=tuple(dict.fromkeys(one.text.name for one in policies)),
        models=tuple(policy.models for policy in said if policy.models is not None),
        providers=tuple(policy.providers for policy in said if policy.providers is not None),
        servers=tuple(policy.mcp for policy in said if policy.mcp is not None),
        hosts=hosts,
        limits=tuple(policy.limits for policy in said if policy.limits is not None),
        sets=(*rules, *(_denying(one.text.name, one.policy.hosts) for one in policies if one.policy.hosts is not None)),
    )


def remains(lists: Lists, name: str) -> bool:
    """Return whether every list of globs selects a name."""
    return all(selects(patterns, name) for patterns in lists)


def _strict(name: str, ready: ReadySet) -> ReadySet:
    """Return the rules of a set that narrow, under a name that tells whose they are."""
    rules = (evolve(rule, set_name=name) for rule in ready.rules if rule.action != "allow")
    return ReadySet(name, rules=tuple(rules), ceiling=True)


def _denying(policy: str, hosts: tuple[str, ...]) -> ReadySet:
    """Return rules that deny every host but these."""
    name = f"{policy}: hosts"
    chosen = tuple(glob for glob in hosts if not glob.startswith(EXCLUDES))
    excluded = tuple(glob[len(EXCLUDES) :] for glob in hosts if glob.startswith(EXCLUDES))
    others = tuple(f"{EXCLUDES}{glob}" for glob in chosen) if chosen else () if excluded else ("*",)
    rules = [ReadyRule(name, f"rule{at}", "deny", host=globs) for at, globs in enumerate((others, excluded)) if globs]
    return ReadySet(name, rules=tuple(rules), ceiling=True)


def host_asked(provider: Provider) -> str | None:
    """Return the host that a provider's requests go to, None where only its library knows."""
    if provider.base_url is not None:
        return host_of(provider.base_url)
    from agentoml.models.adapters import BASE_URLS

    url = BASE_URLS.get(provider.adapter or "")
    return host_of(url) if url else None
