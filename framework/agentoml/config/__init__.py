"""TOML files -> Config: layers, parse, merge, structure. Knows nothing of ACP."""
