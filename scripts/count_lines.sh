#!/bin/sh
# Lines of source of each part, without blank ones and those of comments alone, as a table in markdown.
# With --round to hundreds; with --check DOCUMENT it says whether a table there is still about right: each
# number within a quarter, or within 200 lines. Usage: count_lines.sh [--round | --check DOCUMENT]
set -eu
cd "$(dirname "$0")/.."

lines_of() {
  find "$@" -type f \( -name '*.cpp' -o -name '*.h' -o -name '*.def' \) -exec cat {} + |
    grep -cv -e '^[[:space:]]*$' -e '^[[:space:]]*//' || true
}

# The stable headers (include/weft/*.h) are counted with the tensors, but for those of nn.
table() {
  echo '| part | lines |'
  echo '|---|---|'
  for folder in src/*/; do
    part=$(basename "$folder")
    headers=
    [ ! -d "include/weft/dev/$part" ] || headers=include/weft/dev/$part
    case $part in
      backends)
        for backend in src/backends/*/; do
          echo "| \`backends/$(basename "$backend")\` | $(lines_of "$backend") |"
        done
        continue
        ;;
      nn) headers=include/weft/nn ;;
      tensor) headers="$headers $(echo include/weft/*.h)" ;;
    esac
    # shellcheck disable=SC2086  # several paths
    echo "| \`$part\` | $(lines_of "$folder" $headers) |"
  done
  echo "| \`cli\` | $(lines_of cli) |"
  echo "| tests | $(lines_of tests) |"
  echo "| benchmarks | $(lines_of bench) |"
}

whole() {
  table | awk -F '[|]' '{ print } /`/ { sum += $3 } END { print "| all but tests and benchmarks | " sum " |" }'
}

case ${1-} in
  --check)
    whole | awk -F '[|]' '
      $3 !~ /[0-9]/ { next }
      FNR == NR { lines[$2] = $3 + 0; next }
      $2 in lines {
        said[$2] = 1
        off = $3 - lines[$2]
        if (off < 0) off = -off
        if (off > 200 && off > lines[$2] / 4) {
          print "it says" $2 "has" $3 "lines; there are " lines[$2]
          bad = 1
        }
      }
      END {
        for (part in lines) if (!(part in said)) { print "it says nothing of" part; bad = 1 }
        if (bad) print "run make docs"
        exit bad
      }' - "$2"
    ;;
  --round)
    whole | awk -F '[|]' '$3 !~ /[0-9]/ { print; next }
      { printf "|%s| %d |\n", $2, $3 < 100 ? 100 : int(($3 + 50) / 100) * 100 }'
    ;;
  *) whole ;;
esac
