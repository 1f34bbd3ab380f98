# Functions that declare tests. Every test runs with the verifier on (SPEC=1), with schedules that do not
# follow from what is measured on the machine (CALIBRATE=0), with integers that name places checked (CHECK=1),
# and with a cache that all tests share and users do not: a kernel that several tests compute is compiled once. What all tests compile fits into its limit.

include(GoogleTest)

set(WEFT_TEST_CACHE ${PROJECT_BINARY_DIR}/test_cache CACHE PATH "The cache of all tests")
set(weft_test_limit 2GB)
set(weft_test_changes CALIBRATE=set:0 CHECK=set:1 CACHE_DIR=set:${WEFT_TEST_CACHE} CACHE_LIMIT=set:${weft_test_limit}
  CACHE INTERNAL "For the functions below, which folders beside tests/ call as well")

# Test programs that are run by hand have that cache too, where CACHE_DIR names no other.
add_library(weft_test_cache OBJECT ${PROJECT_SOURCE_DIR}/tests/support/test_cache.cpp)
target_compile_definitions(weft_test_cache PRIVATE
  WEFT_TEST_CACHE="${WEFT_TEST_CACHE}" WEFT_TEST_LIMIT="${weft_test_limit}")

add_custom_target(fuzz COMMENT "All fuzzers")

weft_precompile(weft_test_headers
  HEADERS <fmt/format.h> <gtest/gtest.h> <weft/weft.h> <weft/dev/ir/graph.h>
  LIBRARIES fmt::fmt GTest::gtest
  OPTIONS -O0)

# weft_gtest(NAME [OPTIMISED] SOURCES file... [APART group...])
#
# A GoogleTest program; each of its cases becomes one ctest labelled NAME. OPTIMISED: in any build, since it computes for
# long what it compares with, or looks at its own code. APART: see weft_unity.
function(weft_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 test "OPTIMISED" "" "SOURCES;APART")
  add_executable(${name} ${test_SOURCES})
  target_link_libraries(${name} PRIVATE weft weft_test_cache fmt::fmt GTest::gtest_main)
  if(NOT test_OPTIMISED)
    weft_use_precompiled(${name} weft_test_headers)
    weft_unity(${name} SOURCES ${test_SOURCES} APART ${test_APART})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${name} ENVIRONMENT SPEC=1)
  # It takes no property that is a list.
  set(changes ${CMAKE_CURRENT_BINARY_DIR}/${name}_environment.cmake)
  file(CONFIGURE OUTPUT ${changes} @ONLY CONTENT [[
if(@name@_TESTS)
  set_tests_properties(${@name@_TESTS} PROPERTIES ENVIRONMENT_MODIFICATION "@weft_test_changes@")
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${changes})
endfunction()

# weft_computes(file...)
#
# Sources of tests that take long to compute what they compare with: optimised in any build.
function(weft_computes)
  if(WEFT_UNITY)
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
    ENVIRONMENT SPEC=1 ENVIRONMENT_MODIFICATION "${weft_test_changes}")
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
