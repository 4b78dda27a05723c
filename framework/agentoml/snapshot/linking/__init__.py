"""Config -> linked, step by step: catalog, values, options, owners, what depends on what, names, warnings."""
