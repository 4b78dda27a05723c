"""Where something is wrong, what was probably meant, and how it is shown. Runs only when something is reported."""
