"""Fixtures: what a command leaves behind for later ones — files, descriptors, jobs, traps."""

from __future__ import annotations

FILES: tuple[str, ...] = (
    "touch out-1.txt out-2.txt; show out-?.txt; rm out-1.txt; show out-[12].txt",
    "mkdir -p made/deep; [ -d made/deep ] && show folder; [ -d made ] && show above; cd made/deep && show in",
    "echo x > f; [ -f f ] && show there; rm -f f; [ -f f ] || show gone; [ -e f ] && show wrong; show end",
    "rm -rf lib; [ -d lib ] || show gone; [ -f lib/a.sh ] || show gone too; show end",
    "rm lib/b.sh; for f in lib/*.sh; do show $f; done; rm -r lib; ls lib 2> /dev/null; show end",
    "echo 'show copied' > one.sh; mkdir sub; cp one.sh sub; bash sub/one.sh; cp one.sh two.sh; bash two.sh",
    "echo 'show moved' > one.sh; mv one.sh two.sh; bash two.sh; [ -f one.sh ] || show gone",
    "cp lib/b.sh c.sh; bash c.sh; rm c.sh; echo 'show anew' > c.sh; bash c.sh",
    "mkdir -p a; touch a/x a/y; for f in a/*; do show $f; done; rmdir b 2> /dev/null; show end",
    "touch lib/a.sh; bash lib/a.sh kept; [ -s lib/a.sh ] && show full",
    "mkdir -p w; echo 'show \"$@\"' > w/s.sh; (cd w; bash s.sh inner); bash w/s.sh outer",
    "cd lib; rm data.txt; cd ..; [ -f lib/data.txt ] || show gone; cat lib/b.sh > z.sh; bash z.sh",
)
DESCRIPTORS: tuple[str, ...] = (
    "while read -r l <&3; do show \"$l\"; done 3<<< $'a\\nb'; show end",
    'while read -r -u 3 l; do show "$l"; done 3< lib/data.txt; show end',
    'exec 3< lib/data.txt; read -r l <&3; show "$l"; read -r m <&3 || show empty',
    "printf 'a\\nb\\nc\\n' > t; exec 4< t; read -r x <&4; read -r -u 4 y; show $x $y",
    'exec < lib/data.txt; read -r l; show "$l"',
    'exec 3>&1; x=$(echo in; echo out >&2 2>/dev/null); show "$x"',
)
JOBS: tuple[str, ...] = (
    "show a & wait; show b",
    "trap 'echo failed' ERR; show a; trap - ERR; false; show b",
    "set -e; trap 'echo bad >&2' ERR; show a; false; show never",
    "trap 'show handled' ERR; show a; false || show b; if false; then :; fi; ! true; show c",
    'for i in "${LIST[@]}"; do show $i; done; show end',
    'show a "${NOT_SET[@]}" "${NOT_SET[@]:1}" b; show ${#NOT_SET[@]}',
)
