# Functions that declare tests. Every test runs with the verifier on (SPEC=1), and with schedules that
# do not follow from what is measured on the machine (CALIBRATE=0).

include(GoogleTest)

add_custom_target(fuzz COMMENT "All fuzzers")

weft_headers(weft_test_headers
  HEADERS <fmt/format.h> <gtest/gtest.h> <weft/weft.h> <weft/dev/ir/graph.h>
  LIBRARIES fmt::fmt GTest::gtest
  OPTIONS -O0)

# weft_gtest(NAME [OPTIMISED] SOURCES file... [ALONE file...])
#
# A GoogleTest program; each of its cases becomes one ctest labelled NAME. OPTIMISED: in any build, since it computes for
# long what it compares with, or looks at its own code. ALONE: see weft_together.
function(weft_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 test "OPTIMISED" "" "SOURCES;ALONE")
  add_executable(${name} ${test_SOURCES})
  target_link_libraries(${name} PRIVATE weft fmt::fmt GTest::gtest_main)
  if(NOT test_OPTIMISED)
    weft_use_headers(${name} weft_test_headers)
    weft_together(${name} SOURCES ${test_SOURCES} ALONE ${test_ALONE})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${name} ENVIRONMENT SPEC=1 ENVIRONMENT_MODIFICATION CALIBRATE=set:0)
endfunction()

# weft_computes(file...)
#
# Sources of tests that take long to compute what they compare with: optimised in any build.
function(weft_computes)
  if(WEFT_QUICK)
    set_source_files_properties(${ARGN} PROPERTIES
      COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# weft_script_test(NAME command...)
#
# One ctest that passes when the command exits with 0.
function(weft_script_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT SPEC=1 ENVIRONMENT_MODIFICATION CALIBRATE=set:0)
endfunction()

# weft_fuzz_target(NAME)
#
# Compiles NAME.cpp, which defines LLVMFuzzerTestOneInput, into fuzz_NAME. Under the fuzz preset
# that is a fuzzer; elsewhere a ctest that replays the inputs kept in corpus/NAME.
function(weft_fuzz_target name)
  add_executable(fuzz_${name} ${name}.cpp)
  target_link_libraries(fuzz_${name} PRIVATE weft)
  add_dependencies(fuzz fuzz_${name})
  if(WEFT_SANITIZE MATCHES fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE replay.cpp)
    weft_script_test(fuzz.${name} fuzz_${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  endif()
endfunction()
