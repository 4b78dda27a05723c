"""Every exception of ours, and what becomes of it.

AgentomlError
  ConfigError           .problems: every problem of a configuration; `check` and `run` print them
  RequestError          .code, .message, .data: answered to the client as a JSON-RPC error
    InvalidRequest      -32600
    MethodNotFound      -32601
    InvalidParams       -32602
    InternalError       -32603  (also: no valid configuration, a limit reached; `data.reason` says which)
    RequestCancelled    -32800
    AuthRequired        -32000
    NotFound            -32002
  RemoteError           .code, .message, .data: what the client answered to a request of ours
  ConnectionLost        the client is gone; requests to it end with this
  ModelError            .kind, .retryable, .retry_after: a provider refused, failed or broke off
  ToolError             its text goes to the model as the result of the call
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from agentoml.config.problems import Problem


class AgentomlError(Exception):
    """Anything that this package raises on purpose."""


class ConfigError(AgentomlError):
    """A configuration that can't be used, with every problem found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.one_line() for problem in self.problems))


class RequestError(AgentomlError):
    """A request that is answered with an error: one short sentence and, where it helps, data."""

    code: ClassVar[int] = -32603
    title: ClassVar[str] = "Internal error"

    def __init__(self, message: str | None = None, /, **data: Any) -> None:
        self.message = message or self.title
        self.data: dict[str, Any] | None = data or None
        super().__init__(self.message)


class InvalidRequest(RequestError):
    """Not a request, or not now."""

    code = -32600
    title = "Invalid request"


class MethodNotFound(RequestError):
    """A method that this agent does not have."""

    code = -32601
    title = "Method not found"


class InvalidParams(RequestError):
    """Params that are missing, of the wrong type, or name what is not there."""

    code = -32602
    title = "Invalid params"


class InternalError(RequestError):
    """What went wrong here; `data.reason` says what."""


class RequestCancelled(RequestError):
    """Given up because the client or a shutdown asked for it."""

    code = -32800
    title = "Request cancelled"


class AuthRequired(RequestError):
    """A login is needed first."""

    code = -32000
    title = "Authentication required"


class NotFound(RequestError):
    """A session or resource that is not there."""

    code = -32002
    title = "Resource not found"


class RemoteError(AgentomlError):
    """The client answered a request of ours with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(f"{message} ({code})")


class ConnectionLost(AgentomlError):
    """The client is gone."""


ModelErrorKind = Literal[
    "rate_limit", "overloaded", "timeout", "connection", "auth", "bad_request", "context_length", "protocol"
]


class ModelError(AgentomlError):
    """A model call that failed. `retry_after` is in seconds, where the provider said so."""

    RETRYABLE: ClassVar[frozenset[str]] = frozenset({"rate_limit", "overloaded", "timeout", "connection"})

    def __init__(self, kind: ModelErrorKind, message: str, *, retry_after: float | None = None) -> None:
        self.kind = kind
        self.retry_after = retry_after
        super().__init__(message)

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.kind in self.RETRYABLE


class ToolError(AgentomlError):
    """A tool call that failed; the text tells the model why."""
