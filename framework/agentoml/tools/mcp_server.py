"""One running MCP server and the task that owns it: only that task opens and closes the library's client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from attrs import evolve, field, frozen

from agentoml.config.schema import McpServer
from agentoml.config.secrets import SecretMissing, Vault
from agentoml.errors import ToolError
from agentoml.threads import giving_way, in_thread
from agentoml.tools.mcp_stdio import stdio_transport
from agentoml.tools.mcp_tools import result_of, tools_of
from agentoml.tools.tool import Tool, ToolContext, ToolResult

State = Literal["starting", "ready", "failed", "stopped"]

COMPLAINTS_KEPT = 4_000
PAGES = 100
CANCELLED_CALL_SECONDS = 1.0
ENDING_SECONDS = 2.0
CONNECTION_CLOSED = -32000


@frozen
class Surroundings:
    """Where servers run: the session's directories and the environment of child processes (no secrets in it); and who
    resolves secrets and masks them.
    """

    cwd: str
    roots: tuple[str, ...]
    environment: Mapping[str, str]
    vault: Vault = field(factory=Vault)


class RunningServer:
    """A server from its start to its end. `changed` is called at every change of its state or its tools.

    `served` once it was ready, `answered` once a call of its tools was.
    """

    def __init__(
        self, name: str, declared: McpServer, surroundings: Surroundings, changed: Callable[[RunningServer], None]
    ) -> None:
        self.name = name
        self.declared = declared
        self.state: State = "starting"
        self.problem = ""
        self.tools: tuple[Tool, ...] = ()
        self.served = self.answered = False
        self.settled = asyncio.Event()
        self._surroundings = surroundings
        self._changed = changed
        self._client: Any = None
        self._wake = asyncio.Event()
        self._stopping = self._gone = self._relist = self._relisting = False
        self._complaints = b""
        self.owner = asyncio.create_task(self._own(), name=f"mcp:{name}")
        self.owner.add_done_callback(self._over)

    def stop(self) -> None:
        """Let the server end; `owner` is done when it has."""
        self._stopping = True
        self._wake.set()
        if self.state == "starting" or self._relisting:
            self.owner.cancel()

    async def call(self, tool: str, args: Mapping[str, Any], _: ToolContext) -> ToolResult:
        """Call a tool of the server. Cancelling tells the server and leaves it usable.

        Raises:
            ToolError: it is not running, ended during the call, refused it or answered nonsense.
        """
        if self.state != "ready":
            raise ToolError(f"the MCP server {self.name} is not running: {self.problem or self.state}")
        calling = asyncio.ensure_future(self._client.call_tool(tool, dict(args)))
        try:
            await asyncio.wait((calling, self.owner), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not calling.done():
                await _given_up(calling)
        if calling.cancelled() or not calling.done():
            raise await self._ended_during_the_call()
        if error := calling.exception():
            if getattr(error, "code", None) == CONNECTION_CLOSED:
                raise await self._ended_during_the_call()
            raise ToolError(f"mcp:{self.name}/{tool} failed: {_sentence(error)}") from None
        self.answered = True
        return result_of(calling.result())

    async def _ended_during_the_call(self) -> ToolError:
        """Return the error once the server is gone, with its last words."""
        self._ended()
        await asyncio.wait((self.owner,), timeout=ENDING_SECONDS)
        return ToolError(f"the MCP server {self.name} ended during the call{self._complaint()}")

    # ------------------------------------------------------------------------------------- in the owner task

    async def _own(self) -> None:
        try:
            await self._serve(await in_thread(_library, "import mcp"))
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        except (SecretMissing, ToolError) as error:
            self.problem = str(error)
        except (Exception, BaseExceptionGroup) as error:
            self.problem = self.problem or self._why(error)

    def _over(self, _: asyncio.Task[None]) -> None:
        """The owner has ended, perhaps before it began."""
        self._client = None
        self.tools = ()
        self._enter("stopped" if self._stopping else "failed")

    async def _serve(self, library: ModuleType) -> None:
        try:
            await self._serve_as("legacy", library)  # "auto" waits 10 s for servers that ignore what they do not know
        except BaseException as error:
            refused = _leaf(error)
            if self.state != "starting" or not isinstance(refused, library.MCPError):
                raise
            if refused.code == CONNECTION_CLOSED:
                raise
            await self._serve_as("auto", library)

    async def _serve_as(self, mode: str, library: ModuleType) -> None:
        self._gone = False
        seconds = self.declared.startup_timeout
        async with AsyncExitStack() as stack:
            deadline = asyncio.timeout(seconds)
            try:
                async with deadline:
                    client = library.Client(
                        await self._transport(stack),
                        mode=mode,
                        cache=None,
                        message_handler=self._heard,
                        list_roots_callback=self._list_roots,
                        client_info=library.Implementation(name="agentoml", version="1"),
                    )
                    self._client = await stack.enter_async_context(client)
                    await self._list_tools()
            except BaseException:
                if deadline.expired():
                    self.problem = f"it did not start within {seconds:g} s{self._complaint()}"
                raise
            self.served = True
            self._enter("ready")
            await self._until_over()

    async def _until_over(self) -> None:
        while not (self._stopping or self._gone):
            await self._wake.wait()
            self._wake.clear()
            if self._relist and not (self._stopping or self._gone):
                self._relist = False
                await self._list_again()
        if self._gone and not self._stopping:
            self.problem = f"it ended{self._complaint()}"

    async def _list_again(self) -> None:
        """List the tools as the server asked for; one that does not answer then keeps those that it had."""
        self._relisting = True
        try:
            async with asyncio.timeout(self.declared.startup_timeout):
                changed = await self._list_tools()
        except TimeoutError:
            return
        finally:
            self._relisting = False
        if changed:
            self._changed(self)

    async def _transport(self, stack: AsyncExitStack) -> Any:
        declared = self.declared
        if declared.url is None:
            environment = {**self._surroundings.environment, **await self._resolved(declared.env)}
            return stdio_transport(
                declared.command or (),
                cwd=self._surroundings.cwd,
                environment=environment,
                complains=self._complains,
                ended=self._ended,
            )
        headers = await self._resolved(declared.headers)
        if declared.transport == "sse":
            from mcp.client.sse import sse_client

            return sse_client(declared.url, headers=headers)
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        http = await stack.enter_async_context(create_mcp_http_client(headers=headers))
        return streamable_http_client(declared.url, http_client=http)

    async def _resolved(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Return texts and secrets as texts; only now, because a server that is off has its secrets not read."""
        resolve = self._surroundings.vault.resolve
        return {name: value if isinstance(value, str) else await resolve(value) for name, value in values.items()}

    async def _list_tools(self) -> bool:
        """List the tools again and tell whether they are others than before; a list that is the same stays the same."""
        listed: list[Any] = []
        cursor = None
        for _ in range(PAGES):
            page = await self._client.list_tools(cursor=cursor)
            listed += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        found = tuple(map(self._masked, tools_of(self.name, listed, self.call)))
        changed = found != self.tools
        self.tools = found if changed else self.tools
        return changed

    def _masked(self, tool: Tool) -> Tool:
        """Return a tool as the model and the client are told of it: without the secrets that the server may quote."""
        masked = self._surroundings.vault.masked
        parameters = masked(tool.parameters)
        return evolve(tool, description=masked(tool.description), title=masked(tool.title), parameters=parameters)

    async def _list_roots(self, _: Any) -> Any:
        import mcp_types

        roots = [{"uri": Path(root).as_uri()} for root in self._surroundings.roots]
        return mcp_types.ListRootsResult.model_validate({"roots": roots})

    async def _heard(self, message: Any) -> None:
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            self._relist = True
            self._wake.set()

    def _ended(self) -> None:
        self._gone = True
        self._wake.set()

    def _complains(self, data: bytes) -> None:
        self._complaints = (self._complaints + data)[-COMPLAINTS_KEPT:]

    def _complaint(self) -> str:
        """Return the last line that the server complained with, without secrets."""
        text = self._surroundings.vault.masked(self._complaints.decode("utf-8", "replace"))
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return f": {lines[-1][:300]}" if lines else ""

    def _why(self, error: BaseException) -> str:
        leaf = _leaf(error)
        if getattr(leaf, "code", None) == CONNECTION_CLOSED:
            return f"it ended{' while starting' if self.state == 'starting' else ''}{self._complaint()}"
        return _sentence(leaf)

    def _enter(self, state: State) -> None:
        self.state = state
        self.settled.set()
        self._changed(self)


async def _given_up(calling: asyncio.Future[Any]) -> None:
    """Cancel a call and see that the server is told; what it answers to that is nobody's concern."""
    calling.add_done_callback(lambda done: done.cancelled() or done.exception())
    calling.cancel()
    await asyncio.wait((calling,), timeout=CANCELLED_CALL_SECONDS)


def _library() -> ModuleType:
    """Import the library: two seconds of CPU, so never on the event loop."""
    with giving_way():
        import mcp
        import mcp.client.sse
        import mcp.client.streamable_http

    return mcp


def _leaf(error: BaseException) -> BaseException:
    """Return the first cause in nested groups: what really happened."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _sentence(error: BaseException) -> str:
    leaf = _leaf(error)
    return str(leaf).partition("\n")[0][:500] or type(leaf).__name__
