"""Running agents and the command line of the same user: a socket that says how an agent is, and has it reload."""
