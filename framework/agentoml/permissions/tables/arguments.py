"""Arguments that run or write something, program by program: an allow must name them (E43)."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_letters

from attrs import field, frozen


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@frozen
class Arguments:
    """What arguments of a program run or write something.

    `options`: as written or with `=value`; long ones may be cut short unless `exact`. `letters`: short options, also
    within a cluster or with their value attached. `words`: subcommands. `prefixes`: what a word begins with.
    `contains`: characters that a word holds anywhere. `rest`: options after which a program follows, up to the end;
    `until`: up to `;` or `+`. `line`: options whose value is a command line. `operands`: how many operands there may be
    before one is written. `script`: the language of its first operand, "sed" or "awk". `hides`: what these arguments
    run can't be seen.
    """

    options: frozenset[str] = field(default="", converter=_words)
    letters: str = ""
    words: frozenset[str] = field(default="", converter=_words)
    prefixes: frozenset[str] = field(default="", converter=_words)
    contains: str = ""
    rest: frozenset[str] = field(default="", converter=_words)
    until: frozenset[str] = field(default="", converter=_words)
    line: frozenset[str] = field(default="", converter=_words)
    operands: int | None = None
    script: str = ""
    exact: bool = False
    hides: bool = False


def _each(programs: str, arguments: Arguments) -> dict[str, Arguments]:
    return dict.fromkeys(programs.split(), arguments)


_DIFFS = Arguments(options="--output --ext-diff --textconv", prefixes="-O")
_EDITOR = Arguments(options="--cmd --headless", letters="cSuUsWwil", prefixes="+")
_KUBERNETES = Arguments(options="--raw --kubeconfig", words="exec cp port-forward proxy attach debug edit")
_COMPILER = Arguments(options="-wrapper -fplugin -specs", letters="oB", prefixes="@ -fplugin= -specs=", exact=True)
_RUNNER = Arguments(
    options="--justfile --taskfile --working-directory --dir --set --shell --command", letters="fdctg", contains="="
)

ARGUMENTS: Mapping[str, Arguments] = {
    # files and text
    "find": Arguments(options="-delete -fprint -fprint0 -fprintf -fls", until="-exec -execdir -ok -okdir", exact=True),
    **_each("fd fdfind", Arguments(until="-x --exec -X --exec-batch")),
    "rg": Arguments(options="--pre --hostname-bin"),
    "sort": Arguments(options="--output --compress-program --temporary-directory", letters="oT"),
    "uniq": Arguments(operands=1),
    "tree": Arguments(letters="o"),
    "file": Arguments(options="--compile --magic-file", letters="Cm"),
    "date": Arguments(options="--set", letters="s"),
    "less": Arguments(options="--log-file --LOG-FILE --lesskey-file --lesskey-src", letters="oOk", prefixes="+"),
    "more": Arguments(prefixes="+"),
    "man": Arguments(options="--pager --html --preprocessor", letters="PHp"),
    "bat": Arguments(options="--pager --config-file", words="cache"),
    **_each("sed gsed", Arguments(options="--in-place --file", letters="if", script="sed")),
    **_each(
        "awk gawk mawk nawk",
        Arguments(
            options="--file --include --load --exec --dump-variables --profile --pretty-print --debug",
            letters="fiEldpoD",
            script="awk",
        ),
    ),
    "jq": Arguments(options="--from-file", letters="fL"),
    "yq": Arguments(options="--inplace --in-place --from-file --split-exp", letters="is"),
    "xxd": Arguments(letters="r", operands=1),
    "base64": Arguments(letters="o"),
    "dd": Arguments(prefixes="of="),
    "tar": Arguments(
        options="""--to-command --use-compress-program --checkpoint-action --rsh-command --rmt-command --info-script
            --new-volume-script --index-file --remove-files""",
        letters="IF",
        line="--to-command --use-compress-program -I --rsh-command --rmt-command --info-script -F --new-volume-script",
    ),
    "bsdtar": Arguments(options="--use-compress-program", letters="I"),
    "cpio": Arguments(options="--rsh-command"),
    "zip": Arguments(options="--unzip-command --output-file", letters="TOm"),
    "7z": Arguments(prefixes="-o -w"),
    "openssl": Arguments(options="-out -engine -provider -config", exact=True),
    "gpg": Arguments(options="--output --exec-path --photo-viewer", letters="o"),
    # of the shell: subscripts in names are evaluated, and variables steer what runs later
    **_each("unset read", Arguments(contains="[")),
    **_each("mapfile readarray", Arguments(contains="[", letters="C", hides=True)),
    **_each("declare typeset local export readonly", Arguments(contains="[=", letters="nf")),
    **_each("test [", Arguments(options="-v -R", exact=True)),
    "[[": Arguments(options="-v -R -eq -ne -lt -le -gt -ge", exact=True),
    "let": Arguments(contains=ascii_letters + "_["),
    "printf": Arguments(letters="v"),
    "enable": Arguments(letters="fd", hides=True),
    "hash": Arguments(letters="p", hides=True),
    "alias": Arguments(contains="=", hides=True),
    **_each("complete compgen", Arguments(letters="CFW", hides=True)),
    "bind": Arguments(letters="xf", hides=True),
    # languages
    **_each("python python2 python3 pypy pypy3", Arguments(letters="cX", rest="-m", exact=True)),
    **_each(
        "node nodejs deno bun tsx ts-node",
        Arguments(options="--eval --print --require --import --loader --experimental-loader --env-file", letters="epr"),
    ),
    "perl": Arguments(letters="eEiMmIdx"),
    "ruby": Arguments(options="--require", letters="eirIC"),
    "php": Arguments(options="--run --process-code --process-file", letters="rBREFzd"),
    "lua": Arguments(letters="el"),
    # editors
    **_each("vi vim nvim view ex", _EDITOR),
    "emacs": Arguments(options="--eval --execute --load --funcall --script --batch -eval -f -l -batch", exact=True),
    # the network
    "curl": Arguments(
        options="""--output --output-dir --remote-name --remote-name-all --remote-header-name --create-dirs --config
            --upload-file --dump-header --cookie-jar --trace --trace-ascii --stderr --etag-save --hsts --alt-svc
            --libcurl --engine --write-out --proxy --preproxy --unix-socket --data --data-binary --data-raw
            --data-urlencode --form --json""",
        letters="oOJKTDcwxdF",
    ),
    "wget": Arguments(
        options="""--output-document --output-file --append-output --directory-prefix --execute --use-askpass
            --input-file --post-file --post-data --body-file --config --save-cookies --warc-file --rejected-log""",
        letters="OoaPei",
    ),
    "rsync": Arguments(
        options="--rsh --rsync-path --log-file --write-batch --remove-source-files",
        letters="e",
        line="-e --rsh --rsync-path",
    ),
    "scp": Arguments(letters="oFSJD"),
    "sftp": Arguments(letters="bSoFDJ"),
    # builds, tests, checks
    **_each(
        "make gmake",
        Arguments(
            options="--eval --file --makefile --directory --include-dir --environment-overrides",
            letters="fCIEe",
            contains="=",
        ),
    ),
    "ninja": Arguments(letters="fC"),
    "cmake": Arguments(options="--build --install --preset", letters="DPECBSG"),
    **_each("just task", _RUNNER),
    **_each("gcc g++ clang clang++ cc c++ ld", _COMPILER),
    "npm": Arguments(
        options="""--prefix --script-shell --shell --node-options --userconfig --globalconfig --init-module --git
            --editor --viewer --browser --call --registry""",
        letters="Cc",
        words="config set explore edit",
    ),
    "pnpm": Arguments(options="--dir --script-shell --node-options", letters="Cc", words="config"),
    "yarn": Arguments(options="--cwd --script-shell --use-yarnrc", words="config"),
    "pip": Arguments(
        options="--python --prefix --target --root --index-url --extra-index-url", letters="ti", words="config"
    ),
    "uv": Arguments(options="--directory --project --config-file --python --index-url --env-file", letters="p"),
    **_each(
        "pytest py.test",
        Arguments(
            options="""--config-file --override-ini --rootdir --confcutdir --basetemp --pdbcls --junitxml --junit-xml
                --log-file --debug --pastebin --report-log --html --json-report-file --cov-report --cov-config --pyargs
                --trace --cache-clear""",
            letters="cpo",
        ),
    ),
    "tox": Arguments(options="--conf --override --workdir --root --result-json", letters="cx", words="exec devenv"),
    "nox": Arguments(options="--noxfile --envdir --report", letters="f"),
    "mypy": Arguments(
        options="""--config-file --python-executable --junit-xml --install-types --html-report --txt-report --xml-report
            --any-exprs-report --linecount-report --lineprecision-report --cobertura-xml-report --cache-dir"""
    ),
    "pylint": Arguments(options="--init-hook --load-plugins --rcfile --output"),
    "ruff": Arguments(options="--fix --unsafe-fixes --output-file --config --cache-dir --add-noqa", letters="o"),
    "black": Arguments(options="--config --code", letters="c"),
    "eslint": Arguments(
        options="""--fix --output-file --config --rulesdir --plugin --parser --format --resolve-plugins-relative-to
            --init --cache-location --cache-file""",
        letters="ocf",
    ),
    "prettier": Arguments(options="--write --config --plugin --plugin-search-dir", letters="w"),
    "tsc": Arguments(options="--outFile --outDir --declarationDir --project --build", letters="pb"),
    "cargo": Arguments(
        options="--config --manifest-path --target-dir --out-dir --artifact-dir", letters="ZC", words="install publish"
    ),
    "go": Arguments(
        options="""-exec -toolexec -o -C -modfile -overlay -vettool -pkgdir -ldflags -gcflags -asmflags -gccgoflags
            -cpuprofile -memprofile -blockprofile -mutexprofile -trace -coverprofile -outputdir --exec --toolexec""",
        words="generate install env tool",
        exact=True,
    ),
    "mvn": Arguments(options="--file --define --settings", letters="fDsP", words="exec:exec exec:java"),
    **_each(
        "gradle gradlew",
        Arguments(
            options="--build-file --init-script --project-dir --project-prop --system-prop --gradle-user-home",
            letters="bcIDP",
        ),
    ),
    # clouds and containers; there --output is a format
    "docker": Arguments(options="--config --host", words="cp"),
    "docker run": Arguments(
        options="""--volume --mount --privileged --device --pid --network --cap-add --security-opt --entrypoint
            --env-file --cidfile""",
        letters="v",
    ),
    "docker compose": Arguments(options="--file --env-file --project-directory"),
    "docker build": Arguments(options="--output --file --iidfile --secret --ssh", letters="of"),
    **_each("kubectl oc", _KUBERNETES),
    "helm": Arguments(options="--post-renderer --kubeconfig --output-dir", words="plugin"),
    "aws": Arguments(options="--cli-input-json --cli-input-yaml --endpoint-url --ca-bundle", words="configure"),
    "az": Arguments(words="rest extension"),
    "gcloud": Arguments(options="--flags-file", words="config"),
    "gh": Arguments(words="api alias extension config"),
    "terraform": Arguments(options="-chdir -out -state -var-file", exact=True),
    "psql": Arguments(options="--command --file --output --log-file --set --variable", letters="cfoLv"),
    "mysql": Arguments(options="--execute --pager --tee --init-command --plugin-dir", letters="e"),
    "sqlite3": Arguments(options="-cmd -init -A", prefixes=".", exact=True),
    "crontab": Arguments(letters="er"),
    "systemctl": Arguments(options="--root --host", letters="H", words="edit set-environment import-environment"),
    # git: what may stand anywhere, then subcommand by subcommand
    "git": Arguments(
        options="--output --ext-diff --textconv --exec --upload-pack --receive-pack",
        words="config difftool filter-branch mergetool daemon instaweb cvsserver p4 svn send-email",
        prefixes="ext::",
    ),
    "git grep": Arguments(options="--open-files-in-pager", letters="O"),
    "git log": _DIFFS,
    "git diff": _DIFFS,
    "git show": _DIFFS,
    "git blame": Arguments(options="--contents"),
    "git clone": Arguments(options="--config --template --separate-git-dir", letters="uc"),
    "git init": Arguments(options="--template --separate-git-dir"),
    "git commit": Arguments(options="--template --file --no-verify --pathspec-from-file", letters="tFn"),
    "git pull": Arguments(options="--strategy", letters="s"),
    "git merge": Arguments(options="--strategy --file", letters="sF"),
    "git rebase": Arguments(options="--strategy", letters="s", line="-x --exec"),
    "git filter-branch": Arguments(
        line="--tree-filter --index-filter --msg-filter --env-filter --commit-filter --parent-filter --tag-name-filter"
    ),
    "git difftool": Arguments(options="--tool", letters="t", line="-x --extcmd"),
    "git archive": Arguments(options="--remote", letters="o"),
    "git format-patch": Arguments(options="--output-directory", letters="o"),
    "git bundle": Arguments(words="create"),
    "git worktree": Arguments(words="add move"),
    "git submodule": Arguments(words="update add"),
    "git remote": Arguments(words="add set-url"),
}
"""Program, or program and subcommand -> its arguments that run or write."""

SUBCOMMANDED = _words(
    """
    docker docker-compose podman kubectl oc helm npm pnpm yarn bun cargo go uv pip gh glab aws az gcloud terraform tofu
    systemctl apt apt-get brew dnf yum snap nix vault heroku vercel netlify
    """
)
"""Programs, beside git, whose own options may stand before the subcommand that rules are about."""

ANY_PROGRAM = Arguments(
    options="--output --output-file --exec --to-command --pager --editor -exec -execdir", exact=True
)
"""The same, for a program without an entry."""

GIT_OPTIONS = _words("-c -C --config-env --exec-path --git-dir --work-tree --namespace --attr-source --paginate -p")
"""Options of git itself, before the subcommand, that change what it runs or where it works."""

GIT_VALUES = _words("-c -C --config-env --exec-path --git-dir --work-tree --namespace --attr-source")
"""Options of git itself whose value may be the next word."""
