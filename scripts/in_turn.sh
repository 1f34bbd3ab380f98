#!/bin/sh
# The share of a long check that one run of CI does. Of the lines on standard input, prints those of one of OF fixed parts,
# and those that the change touches. The first word of a line says which part it belongs to; WEFT_TURN says whose turn it is, or else
# the number of commits. A line is touched where one of its words is a file that has changed since WEFT_BASE (a commit). Of touched
# lines that are not in turn it takes the first MOST (60). WEFT_FULL=1 prints every line.
# Usage: ... | in_turn.sh OF [MOST]
set -eu
[ -z "${WEFT_FULL:-}" ] || exec cat
cd "$(dirname "$0")/.."

turn=${WEFT_TURN:-$(git rev-list --count HEAD)}
{ git diff --name-only "${WEFT_BASE:-HEAD}"; echo; cat; } |
  awk -v of="$1" -v most="${2:-60}" -v turn="$((turn % $1))" '
    BEGIN { for (i = 1; i < 128; ++i) code[sprintf("%c", i)] = i }
    function part_of(text,   i, sum) {
      for (i = 1; i <= length(text); ++i) sum = (sum * 31 + code[substr(text, i, 1)]) % 65521
      return sum % of
    }
    !in_list { if ($0 == "") in_list = 1; else is_changed[$1] = 1; next }
    {
      is_touched = 0
      for (i = 1; i <= NF; ++i) if ($i in is_changed) is_touched = 1
      lines[NR] = $0
      if (part_of($1) == turn) in_turn[NR] = 1
      else if (is_touched && ++count <= most) touched[NR] = 1
    }
    END {
      if (count > most) print "the change touches " count " more: the first " most " of these" > "/dev/stderr"
      for (i = 1; i <= NR; ++i) if (in_turn[i] || touched[i]) print lines[i]
    }'
