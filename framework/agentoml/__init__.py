"""Agentoml: TOML files in, a running ACP agent out."""

__version__ = "0.1.0"
