"""Models that stand in no TOML file of the user's: files, providers' lists and the cost map, as one more layer."""
