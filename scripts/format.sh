#!/bin/sh
# Formats the sources in place; with --check only complains. Usage: format.sh [--check]
set -eu
cd "$(dirname "$0")/.."
action=-i
[ "${1:-}" != --check ] || action='--dry-run -Werror'
# shellcheck disable=SC2086
find include src cli tests bench examples -name '*.h' -o -name '*.cpp' |
  xargs clang-format-19 $action
