"""What a turn can do: one contract, one module a family of tools."""
