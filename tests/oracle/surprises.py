"""Small scripts that bash reads otherwise than one would think: each was once evaluated wrongly."""

from __future__ import annotations

SURPRISES: tuple[str, ...] = (
    "while read l; do show \"[$l]\"; done <<'E'\n  a b  \nc\\d\nE",
    "set -e; ! false; show a; ! true; show b",
    "set -e; for i in 1; do false && true; done; show a",
    'declare -A m=([z]=1 [a]=2 [m]=3); show "${!m[@]}" "${m[@]}"',
    "trap 'show exit $?' EXIT; false; exit 3",
    'X=; [ -d "$X" ] && show dir; [ -e "$X" ] && show e; [ -f "$X" ] || show nofile; '
    "[[ -d $X ]] && show dd; [[ -e $X ]] || show ne",
    "f() { break; }; for i in 1 2; do f; show $i; done",
    "for i in 1 2; do continue 2; done; show end",
    "for i in 1 2; do break 5; done; show end",
    "break; show x; continue; show y",
    "return 0; show x",
    "return 1 2>/dev/null || show fallback",
    "for i in a b; do (show $i; break; show no); done; show end",
    "trap -- 'show x' EXIT; show a",
    "( trap 'show sub' EXIT; show in ); show out",
    "x=$(trap 'echo bye' EXIT; echo hi); show \"$x\"",
    "(trap 'exit 5' EXIT; exit 1); show $?",
    "bash -c 'trap \"exit 5\" EXIT; exit 1' ; show $?",
    'shopt -s inherit_errexit; set -e; show a; x=$(false; echo hi); show "$x"',
    "export X=1; f() { local X=2; bash -c 'show ${X:-no}'; }; f; bash -c 'show $X'",
    "export X=1; f() { local X; X=2; bash -c 'show ${X:-no}'; }; f",
    "show \"$(printf '%x' -1)\" \"$(printf '%u' -1)\"",
    'show "$(dirname /)" "$(dirname //a)" "$(dirname a//b)" "$(dirname \'\')"; '
    'show "$(basename \'\')" "$(basename /)"',
    "printf 'a\\r\\nb\\r\\n' > x.txt; mapfile -t L < x.txt; show \"${L[*]}\"",
    "mapfile -t L <<< $'a\\x0bb\\fc'; show \"${L[@]}\"",
    "set -e; for i in 1 2; do [ $i = 1 ] && show one; done; show after",
    "set -e; if true; then [ a = b ] && X=1; fi; show after",
    "set -e; { [ a = b ] && X=1; }; show after",
    "set -e; case a in a) [ a = b ] && X=1;; esac; show after",
    "set -e; i=0; while [ $i -lt 2 ]; do i=$((i+1)); [ $i = 1 ] && show one; done; show after",
    "set -e; if true; then ! true; fi; show after; ! true; show x",
    "set -e; for i in 1; do if [ $i = 2 ]; then :; elif false; then :; fi; done; show a; "
    "for i in 1; do ((i>5)) && show n; done; show b",
    'A=(1 2 3); ((A[-1]=9)); show "${A[*]}"; A[-1]=7; show "${A[*]}"',
    "declare -A m; x=1; m['$x']=2; show \"${m['$x']}\" \"${m[1]:-none}\"",
    'x=a; show "${x/a/\'b\'}" ${x/a/\'b\'} "${x/a/"b"}" "${x/\'a\'/c}"',
    "command source lib/vars.sh; show ${FROM_LIB:-none}; builtin . lib/vars.sh; "
    "show ${FROM_LIB:-none}; command eval 'C=1'; show ${C:-none}",
    'set -- \'a b\' c; IFS=,; x=$*; y="$*"; z=$@; w="$@"; show "$x" "$y" "$z" "$w"; A=(1 2); '
    'x=${A[*]}; show "$x"',
    'OLDIFS=$IFS; IFS=,; set -- $(echo a,b,c); IFS=$OLDIFS; show "$@" ; x="a b"; show $x',
    'A=a,b; show "${A//,/ }" ${A//,/ } "${A//,/$\'\\n\'}"; B=(${A//,/ }); show "${B[@]}" ${#B[@]}',
    'read X Y Z <<< "1 2 3 4"; show "$X" "$Y" "$Z"; read -r _ Y <<< "a b"; show "$Y"; '
    'read -a Q <<< "a b"; show ${Q[1]}; read <<< " q "; show "[$REPLY]"',
    'x="it\'s"; show "${x}" "${x//\\\'/_}" "${x/\\\'/\\"}"; y=\'a"b\'; '
    'show "${y//\\"/}" ${y//\'"\'/q}; z=\'a\\b\'; show "${z//\\\\/\\/}" $z',
    'x=a.b/c; show ${x//[.\\/]/_} ${x//[^a-z]/-} "${x/./\\\\}" ${x/%c/} ${x/#a/} ${x//[!a-z]}',
    "x=Qwen/Qwen3-8B; "
    'show ${x,,} ${x^^} ${x//[\\/-]/_} "${x%%/*}" ${x##*-} ${x: -2} ${x//[0-9]/#} ${x,} ${x^q}',
    'f() { echo "to err" >&2; echo out; }; x=$(f 2>/dev/null); show "$x"; y=$(f 2>&1); '
    'show "$y"; z=$(f >/dev/null 2>&1); show "[$z]"; w=$( (echo a; echo b >&2) 2>&1); show "$w"; '
    'v=$(echo a >/dev/stdout); show "$v"',
    "f() { trap 'show infn' EXIT; }; f; show a; exec show last",
    'for i in $(echo "a b"; echo c) "$(echo d e)" {1..2}; do show $i; done; '
    "for ((;;)) do show once; break; done",
    'IFS=, read -r a b <<< "x,y,"; show "[$b]"; IFS=, read -r a b <<< "x,y,z,"; show "[$b]"; '
    'IFS=, read -ra A <<< "x,,y,"; show "${#A[@]}" "${A[@]}"; '
    'IFS=\' ,\' read -r a b <<< "x , y z"; show "[$a]" "[$b]"',
    "show ${x:-a}${y:-b} ${x:-$((1+2))} ${x:-\"$(echo q r)\"} ${x:-$(echo q r)} ${x:-'a b'} "
    '"${x:-\'a b\'}" "${x:-"a b"}" ${x:-a\\ b} ${x:-${y:-"p q"} s} "${x:-\\"q\\"}" "${x:-$\'a\'}"',
    "A=1\nexport A\nf() { A=2; }\nf; bash -c 'show $A'; unset A; bash -c 'show ${A-un}'; A=3; "
    "bash -c 'show ${A-un}'",
    'u=; show "[${u/*/X}]" "[${u/%*/X}]" "[${u/#*/X}]" "[${u/#/X}]"; unset u; '
    'show "[${u/%*/X}]" "[${u/#/X}]"',
    'OLDIFS="$IFS"; IFS=,; A=(1 2); show "${A[*]}"; IFS="$OLDIFS"; x="a b"; show $x',
    "printf -v list '%s,' a b c; show \"${list%,}\"; printf -v n '%02d' 8; show $n; "
    "printf -v h '%d' \"0x1f\"; show $h",
    "x=$(case a in a) echo 1;; *) echo 2;; esac); show $x",
    "x=$(case a in (a) echo 1;; (*) echo 2;; esac); show $x",
    "x=$(cat <<'E'\nit's ) here\nE\n); show \"$x\"",
    'x=$(cat <<E | tr a-z A-Z\nit\'s $((1<<2)) (\nE\n); show "$x"',
    'show "$(echo case closed)" "$(echo in case of) x"',
    'A=(case x y); show "${A[@]}"; x=$(for i in case b; do echo $i; done); show $x',
    'x=$(cat <<-E\n\ta )\n\tE\n); show "$x"; show $((8 >> 2)) $((1 << 3))',
    "f() { local OPTIND=1 o; while getopts 'ab:' o \"$@\"; do show $o ${OPTARG:-}; done; }; f -ab x -a",
    'x=$(if true; then case b in b) echo B ;; esac; fi; echo end); show "$x"',
    'x=$(cat - <<A\n1)\nA\ncat <<B\n2)\nB\n); show "$x"',
    'x="$(case $1 in "") echo none;; *) echo "some )";; esac)"; show "$x"',
)
