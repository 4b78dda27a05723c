"""All benchmarks in one run: ours, the baseline measured beside it, and the ratio."""

import platform

import catalogs
import imports
import options
import reloads
import startup
import streaming

print(f"Python {platform.python_version()}, medians: ours, baseline, ratio pair by pair")
startup.main()
streaming.main()
options.main()
imports.main()
catalogs.main()
reloads.main()
