"""The least an ACP agent can be: asyncio and json, one canned answer to initialize."""

import asyncio
import json
import os
import sys

RESULT = {
    "protocolVersion": 1,
    "agentInfo": {"name": "stdlib", "version": "0"},
    "agentCapabilities": {"loadSession": False, "promptCapabilities": {}},
    "authMethods": [],
}


async def main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        request = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": RESULT}
        os.write(1, json.dumps(answer, separators=(",", ":")).encode() + b"\n")


asyncio.run(main())
