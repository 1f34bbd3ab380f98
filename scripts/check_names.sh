#!/bin/sh
# Checks that no two files of the library define classes of one name in one namespace: no compiler sees that they
# differ, and one's destructor is taken for the other's. Usage: check_names.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"

find include src -type f \( -name '*.h' -o -name '*.cpp' \) | sort | xargs awk '
  FNR == 1 { depth = 0 }
  /^(inline )?namespace .*\{$/ || /^namespace \{$/ {
    name = $0
    sub(/^(inline )?namespace */, "", name)
    sub(/ *\{$/, "", name)
    spaces[++depth] = name
  }
  /^\}  \/\/ namespace/ { --depth }
  /^(struct|class|enum class|enum|union) [A-Za-z_0-9]+( final)?( :[^;]*)?( \{.*)?$/ {
    where = ""
    for (i = 1; i <= depth; ++i) {
      if (spaces[i] == "") next  # of this file alone
      where = where spaces[i] "::"
    }
    name = where ($2 == "class" ? $3 : $2)
    if (name in file && file[name] != FILENAME) {
      print name " is defined in " file[name] " and in " FILENAME
      failed = 1
    }
    file[name] = FILENAME
  }
  END { exit failed }
'
