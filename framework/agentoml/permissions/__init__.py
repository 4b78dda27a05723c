"""A tool call -> allow, ask, always_ask or deny. Pure: the file system is asked through callables handed in."""
