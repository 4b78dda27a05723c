"""The least a reader of a streamed reply can be: asyncio streams and json, the deltas joined and thrown away."""

import asyncio
import json
import sys


async def read(port: int) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = b'{"stream":true}'
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    while (await reader.readline()) != b"\r\n":
        pass
    deltas = 0
    while size := int(await reader.readline(), 16):
        chunk = await reader.readexactly(size + 2)
        for line in chunk.splitlines():
            if line.startswith(b"data: {"):
                choices = json.loads(line[6:])["choices"]
                deltas += bool(choices and choices[0]["delta"].get("content"))
    writer.close()
    return deltas


async def main() -> None:
    """For each line on stdin: read one reply and say how many deltas it had."""
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        deltas = await read(int(sys.argv[1]))
        answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"deltas": deltas}}
        sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
        sys.stdout.flush()


asyncio.run(main())
