"""ACP v1 over JSON-RPC over stdio.

    stdio --bytes--> frames --messages--> jsonrpc --params--> handlers, checked by methods
                                          jsonrpc <--requests and updates-- client, built by messages

All but `jsonrpc` import neither asyncio nor attrs, so `handshake` answers `initialize` before there is an event loop.
"""
