"""Config -> Snapshot: what a configuration means, frozen; and what that is for one session (resolve)."""
