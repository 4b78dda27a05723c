"""Selections -> what is in force, step by step: conditions, lists, forcing, the default chain, the fold."""
