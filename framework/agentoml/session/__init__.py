"""Snapshot and client -> turns: open sessions, what they were told, and the turns that run in them."""
