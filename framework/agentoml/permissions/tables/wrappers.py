"""Programs that run another program: what stands between their name and its."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _flags(text: str) -> frozenset[str]:
    """Return options without a value; those with one dash are letters."""
    letters = (f"-{letter}" for word in text.split() if not word.startswith("--") for letter in word[1:] or "-")
    return frozenset(letters) | {word for word in text.split() if word.startswith("--")} | (_words(text) & {"-"})


@frozen
class Wrapper:
    """How a program runs what follows its own options.

    `values`: options whose value is the next word or attached. `flags`: options without one. `operands`: how many of
    its own words come before the program. `assignments`: `NAME=value` may stand before the program. `line`: options
    whose value is a command line. `joins`: its words, joined, are a command line. `appends`: further words that can't
    be seen follow. `alone`: it may stand without a program; else what it runs then can't be seen. `writes`: options
    that write a file. `idle`: options with which it runs nothing. `fills`: options that say which text is filled in.
    `goes_on`: the words behind a `line` belong to it.
    """

    values: frozenset[str] = field(default="", converter=_words)
    flags: frozenset[str] = field(default="", converter=_flags)
    operands: int = 0
    assignments: bool = False
    line: frozenset[str] = field(default="", converter=_words)
    joins: bool = False
    appends: bool = False
    alone: bool = False
    writes: frozenset[str] = field(default="", converter=_words)
    idle: frozenset[str] = field(default="", converter=_words)
    fills: frozenset[str] = field(default="", converter=_words)
    goes_on: bool = False


_TIMEOUT = Wrapper(
    values="-k -s --kill-after --signal", flags="-fpv --foreground --preserve-status --verbose", operands=1
)
_TRACER = "-a -A -b -D -e -E -F -I -l -n -o -O -p -P -s -S -u -U -w -x -X"
_TMUX = Wrapper(values="-s -t -n -c -x -y -F -e -l -p", flags="-dAPDEXbfhvIZ", joins=True, alone=True)
_NPX = Wrapper(values="-p --package", flags="-yq --yes --no --quiet --no-install", line="-c --call")
_UVX = Wrapper(
    values="-p --python --from --with --with-editable --with-requirements --index-url --default-index --directory",
    flags="-qv --isolated --offline --no-cache --refresh",
)
_MISE = Wrapper(values="-C --cd -j --jobs --env -E", flags="-qvy --raw")
_CONDA = Wrapper(values="-n -p --name --prefix --cwd", flags="-v --no-capture-output --live-stream")
_CONTAINER = Wrapper(
    values="-e -u -w --env --env-file --user --workdir --index --detach-keys",
    flags="-ditT --detach --interactive --tty --no-TTY --privileged",
    operands=1,
)

WRAPPERS: Mapping[str, Wrapper] = {
    # as somebody else, or with other limits
    "sudo": Wrapper(
        values="""-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from --role --type --chdir
            --command-timeout --other-user --chroot""",
        flags="""-ABbEeHiKklNnPSsVv --preserve-env --set-home --non-interactive --stdin --background --login --shell
            --askpass --edit --list --validate --reset-timestamp --remove-timestamp""",
        assignments=True,
    ),
    "doas": Wrapper(values="-u -C -a", flags="-Lns"),
    "pkexec": Wrapper(values="--user", flags="--disable-internal-agent --keep-cwd"),
    "su": Wrapper(values="-s -g -G -w --shell --group", flags="-flmpP - --login", line="-c --command", operands=1),
    "runuser": Wrapper(values="-u -g -G -s -w --user --shell", flags="-flmpP - --login", line="-c --command"),
    "chroot": Wrapper(values="--userspec --groups", flags="--skip-chdir", operands=1),
    "unshare": Wrapper(flags="-imnpuUCTfrc --fork --net --mount --pid --user --map-root-user --map-current-user"),
    "nsenter": Wrapper(values="-t -S -G --target --setuid --setgid", flags="-amuinpCUTFZ --all --mount --net --pid"),
    "timeout": _TIMEOUT,
    "gtimeout": _TIMEOUT,
    "nice": Wrapper(values="-n --adjustment", flags="-0123456789", alone=True),
    "ionice": Wrapper(values="-c -n -p -P -u --class --classdata --pid", flags="-t --ignore", alone=True),
    "chrt": Wrapper(values="-T -P -D", flags="-abfiorv --batch --fifo --idle --other --rr", operands=1),
    "taskset": Wrapper(flags="-ac --all-tasks --cpu-list", operands=1),
    "setarch": Wrapper(flags="-3BFILRSTXZv", operands=1),
    "caffeinate": Wrapper(values="-t -w", flags="-dimsu", alone=True),
    "flock": Wrapper(values="-w -E --timeout --conflict-exit-code", flags="-sxunoF", operands=1, line="-c --command"),
    "prlimit": Wrapper(values="-p --pid -o --output", flags="--verbose --raw --noheadings", alone=True),
    "numactl": Wrapper(
        values="-N -m -C -i -p --cpunodebind --membind --physcpubind --interleave --preferred", flags="-la"
    ),
    "cpulimit": Wrapper(values="-l --limit -p --pid -e --exe", flags="-zibqv", alone=True),
    "chpst": Wrapper(values="-u -U -b -e -/ -n -l -L -m -d -o -p -f -c -r -t", flags="-vP012"),
    "setuidgid": Wrapper(operands=1),
    "sg": Wrapper(flags="-", line="-c --command", operands=1, joins=True, alone=True),
    "fakeroot": Wrapper(values="-l --lib --faked -s -i -b", flags="-uv --unknown-is-real", alone=True),
    "firejail": Wrapper(flags="--quiet --noprofile", alone=True),
    "systemd-run": Wrapper(
        values="""-u -p -E -M -H --unit --property --setenv --slice --description --uid --gid --on-active
            --on-calendar --working-directory""",
        flags="-tPdqrGS --user --system --scope --pty --pipe --wait --collect --quiet --same-dir --shell",
    ),
    # with another environment or other streams
    "env": Wrapper(
        values="-u -C -P --unset --chdir",
        flags="-i0v - --ignore-environment --null --debug",
        assignments=True,
        line="-S --split-string",
        goes_on=True,
        alone=True,
    ),
    "nohup": Wrapper(),
    "setsid": Wrapper(flags="-cfw --ctty --fork --wait"),
    "stdbuf": Wrapper(values="-i -o -e --input --output --error"),
    "unbuffer": Wrapper(flags="-p"),
    "rlwrap": Wrapper(values="-b -C -f -H -s -S", flags="-acimnprw"),
    "faketime": Wrapper(flags="-mp", operands=1),
    "xvfb-run": Wrapper(
        values="-n -e -f -p -s -w --server-num --server-args --error-file", flags="-al --auto-servernum"
    ),
    "dbus-run-session": Wrapper(values="--config-file --dbus-daemon", flags="--"),
    **dict.fromkeys(("proxychains", "proxychains4", "torsocks", "torify"), Wrapper(values="-f", flags="-qi")),
    "script": Wrapper(values="-E -I -O -B -T -t -o -m", flags="-aefqk", line="-c --command", operands=1, alone=True),
    # again and again, or for each of many
    "xargs": Wrapper(
        values="""-I -n -P -L -d -E -s -a -J -R -S --max-args --max-procs --max-lines --delimiter --max-chars
            --arg-file""",
        flags="-0ilertxpo --null --no-run-if-empty --exit --interactive --verbose --open-tty --replace --eof",
        fills="-I -i -J --replace",
        appends=True,
        alone=True,
    ),
    "parallel": Wrapper(
        values="""-j -N -n -L -a -d -I -S -P --jobs --max-args --arg-file --delay --timeout --joblog --results
            --retries""",
        flags="-0kqtuvX --keep-order --dry-run --bar --eta --line-buffer --will-cite",
        joins=True,
        appends=True,
    ),
    "watch": Wrapper(values="-n --interval -q --equexit", flags="-bcdegtwx", joins=True),
    "entr": Wrapper(flags="-acdnprsxz", appends=True),
    # watched while it runs
    "time": Wrapper(
        values="-f -o --format --output", flags="-apqvlh", assignments=True, writes="-o --output", alone=True
    ),
    "strace": Wrapper(values=_TRACER, flags="-cCdfhikqrtTvVyYzZ", writes="-o -O"),
    "ltrace": Wrapper(values=_TRACER, flags="-cCfhirSTV", writes="-o"),
    "valgrind": Wrapper(flags="-qv --quiet --verbose", writes="--log-file --xml-file"),
    "catchsegv": Wrapper(),
    "hyperfine": Wrapper(
        values="""-w -m -M -r -N -S -n --warmup --min-runs --max-runs --runs --shell --export-json
            --export-markdown""",
        flags="-i --ignore-failure --show-output",
        line="-s --setup -p --prepare -c --cleanup",
        joins=True,
    ),
    "perf stat": Wrapper(values="-e -r -p -o -x --event --repeat --output", flags="-adv --all-cpus --detailed"),
    "perf record": Wrapper(values="-e -F -c -p -o --event --freq --output", flags="-agv --all-cpus"),
    **dict.fromkeys(("tmux new", "tmux new-session", "tmux split-window", "tmux new-window"), _TMUX),
    "screen": Wrapper(values="-S -t -c -h -T -e -p", flags="-dmDRxaAiLOqrUv", alone=True),
    # of the shell itself
    "command": Wrapper(flags="-p", idle="-v -V", alone=True),
    "builtin": Wrapper(alone=True),
    "exec": Wrapper(values="-a", flags="-cl", alone=True),
    "eval": Wrapper(joins=True, alone=True),
    "trap": Wrapper(flags="-lp", joins=True, alone=True),
    "busybox": Wrapper(alone=True),
    "toybox": Wrapper(alone=True),
    # elsewhere
    "ssh": Wrapper(
        values="-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
        flags="-46AaCfGgKkMNnqsTtVvXxYy",
        operands=1,
        joins=True,
        alone=True,
        writes="-E -o -F -S -J",
    ),
    "docker exec": _CONTAINER,
    "docker compose exec": _CONTAINER,
    "docker-compose exec": _CONTAINER,
    "podman exec": _CONTAINER,
    "kubectl exec": Wrapper(values="-c -n -f --container --namespace", flags="-iqt --stdin --tty --quiet", operands=1),
    # in the environment of a project
    "npx": _NPX,
    "npm exec": _NPX,
    "npm x": _NPX,
    "pnpx": _NPX,
    "pnpm exec": Wrapper(values="-C --dir --filter", flags="-rc --recursive --parallel"),
    "pnpm dlx": Wrapper(values="--package", flags="-cs"),
    "yarn exec": Wrapper(),
    "yarn dlx": Wrapper(values="-p --package", flags="-q"),
    "bunx": Wrapper(values="-p --package", flags="--bun"),
    "bun x": Wrapper(flags="--bun"),
    "uvx": _UVX,
    "uv tool run": _UVX,
    "uv run": Wrapper(
        values="""-p --python --with --with-editable --with-requirements --extra --group --only-group --no-group
            --project --directory --env-file --package --index-url --default-index --index --config-file --cache-dir""",
        flags="""-qvns --no-sync --frozen --locked --isolated --offline --all-extras --all-groups --no-dev --dev
            --active --no-project --no-env-file --quiet --verbose --exact --script --refresh --no-cache --no-config""",
    ),
    "poetry run": Wrapper(flags="-nqv"),
    "pipenv run": Wrapper(),
    "pipx run": Wrapper(values="--spec --python --index-url", flags="-qv --no-cache --pypackages"),
    "pdm run": Wrapper(values="-p --project", flags="-sv"),
    "rye run": Wrapper(values="--env-file"),
    "hatch run": Wrapper(flags="-qv"),
    "pixi run": Wrapper(values="-e --environment --manifest-path", flags="-qv --frozen --locked"),
    "conda run": _CONDA,
    "mamba run": _CONDA,
    "micromamba run": _CONDA,
    "bundle exec": Wrapper(values="--gemfile", flags="--keep-file-descriptors"),
    "mise exec": _MISE,
    "mise x": _MISE,
    "asdf exec": Wrapper(),
    "direnv exec": Wrapper(operands=1),
    "doppler run": Wrapper(values="-p -c -t --project --config --token", line="--command"),
    "op run": Wrapper(values="--env-file --account", flags="--no-masking"),
    "aws-vault exec": Wrapper(values="-d --duration --region", flags="-njs --no-session", operands=1, alone=True),
    "dotenv run": Wrapper(values="-f --file", flags="--override --no-override"),
    "rustup run": Wrapper(flags="--install", operands=1),
    "nix-shell": Wrapper(values="-p -A -I --arg --packages", flags="--pure", line="--run --command", alone=True),
    "nix develop": Wrapper(values="-c", flags="--impure", alone=True),
    "git bisect run": Wrapper(),
    "git submodule foreach": Wrapper(flags="-q --quiet --recursive", joins=True),
}
"""Program, or program and subcommand -> how it runs another one; in a container or on another host, too."""

SHELLS = _words("sh bash dash zsh ksh mksh ash fish rbash yash posh csh tcsh")
"""Programs that run a command line (`-c`), a script, or what they read."""

SHELL_VALUES = _words("-o +o -O +O --rcfile --init-file")
"""Options of shells whose value is the next word."""

SOURCES = _words(". source")
"""What runs a file within the shell."""

UNSEEN = _words("at batch newgrp bwrap gdb start-stop-daemon")
"""Programs that run what can't be seen in their words."""
