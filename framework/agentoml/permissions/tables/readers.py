"""Programs that only read what they name, as long as no argument of theirs writes (E46)."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READERS = _words(
    """
    cat tac nl head tail less more most bat grep egrep fgrep zgrep rg ag ack ls dir tree stat file wc du df cut paste
    join comm diff cmp colordiff sdiff md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum b2sum cksum sum od
    hexdump hd xxd strings find fd fdfind sort uniq fold fmt column pr expand unexpand jq basename dirname realpath
    readlink pwd cd pushd popd test [ [[ echo printf true false : which type whereis zcat bzcat xzcat zless look tr rev
    tsort id whoami date uname hostname printenv sed gsed awk gawk mawk nawk lsattr getfacl base64 ps pgrep
    """
)

GIT_READERS = _words(
    """
    diff log show status blame annotate grep ls-files ls-tree cat-file rev-parse rev-list describe shortlog check-ignore
    check-attr merge-base name-rev diff-tree diff-index diff-files for-each-ref show-ref whatchanged range-diff cherry
    count-objects
    """
)
"""Subcommands of git that only read."""

DIRECTORY_OPTIONS = _words("-C --directory --chdir --cwd --cd --dir --prefix --work-tree --working-directory")
"""Options whose value is the directory in which a program works."""
