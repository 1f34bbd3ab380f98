#!/bin/sh
# Builds one of the seven parts of the tests under AddressSanitizer and UBSan, and runs it without the tests that compute for
# long (tests/not_in_asan_quick.txt). `make asan` runs all tests. Without a number it is the part in turn, by the commit.
# Usage: asan_part.sh [PART]
set -eu
cd "$(dirname "$0")/.."
turn=${WEFT_TURN:-$(git rev-list --count HEAD)}
part=${1:-$((turn % 7 + 1))}

# The programs to build, and what ctest selects of their tests.
case $part in
  1) targets="weft_tests" tests="-L ^weft_tests$ -I 1,,2" ;;
  2) targets="weft_tests" tests="-L ^weft_tests$ -I 2,,2" ;;
  3) targets="weft_onnx_tests weft_io_tests" tests="-L ^weft_(onnx|io)_tests$" ;;
  4) targets="weft_codegen_tests weft_nn_tests weft_line_tests" tests="-L ^weft_(codegen|nn|line)_tests$" ;;
  5) targets="weft_property_tests weft_program_tests weft_export_tests" tests="-L ^weft_(property|program|export)_tests$" ;;
  6) targets="weft_text_tests weft_cli fuzz capi_weft capi_weft_run_only capi_make_models source_lines source_lines_no_pie
              source_lines_without weft_print_program printed_program weft_computes weft_other_module weft_tests"
     tests="-R ^(text|fuzz\.|capi\.|cli\.|llvm\.|programs\.|e2e\.(weft|cache|source_lines|clang_calls)|onnx\.nodes)" ;;
  7) targets="weft_golden_tests" tests="-R ^golden\." ;;
  *) echo "asan_part.sh: there are parts 1 to 7, not '$part'" >&2; exit 2 ;;
esac
echo "part $part of 7: $targets"

# shellcheck disable=SC2086
[ -e build/asan/build.ninja ] && [ -z "${CMAKE_FLAGS:-}" ] || cmake --preset asan ${CMAKE_FLAGS:-}
# shellcheck disable=SC2086
cmake --build --preset asan --target $targets
long=$(sed '/^#/d;/^$/d;s/^/^/' tests/not_in_asan_quick.txt | paste -sd '|')
# shellcheck disable=SC2086
ASAN_OPTIONS=detect_stack_use_after_return=0:malloc_context_size=10 \
  ctest --preset asan -j "$(nproc)" --no-tests=error $tests -E "$long"
