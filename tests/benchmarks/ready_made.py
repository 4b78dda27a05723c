"""The least an agent can do with a request: asyncio, json, and an answer that lies ready."""

import asyncio
import json
import os
import sys
from pathlib import Path


async def main() -> None:
    """Answer each line on stdin with the JSON in the file that is named."""
    payload = Path(sys.argv[1]).read_bytes()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        left = b'{"jsonrpc":"2.0","id":%d,"result":%s}\n' % (json.loads(line)["id"], payload)
        while left:
            left = left[os.write(1, left) :]


asyncio.run(main())
