# For builds from nothing, such as CI's: headers that most sources begin with are compiled once, and tests are not
# optimised. Half the time of a build by clang with sanitizers. It hides includes that are missing, which other builds
# and clang-tidy find, and whoever edits one of these headers waits for everything.

option(WEFT_QUICK "Precompile common headers, and do not optimise tests: for builds from nothing" OFF)

set(standard_headers
  <algorithm> <array> <bit> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <mutex> <numeric>
  <optional> <ranges> <set> <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>)

# weft_headers(NAME HEADERS header... LIBRARIES library... [OPTIONS option...])
#
# Compiles these and the standard library's, for targets that have the same options and definitions.
function(weft_headers name)
  cmake_parse_arguments(PARSE_ARGV 1 list "" "" "HEADERS;LIBRARIES;OPTIONS")
  if(NOT WEFT_QUICK)
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:weft,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${name} PRIVATE ${list_LIBRARIES})
  target_compile_options(${name} PRIVATE ${list_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${standard_headers} ${list_HEADERS})
endfunction()

# weft_use_headers(TARGET NAME)
#
# The target begins with these headers, and has their options.
function(weft_use_headers target name)
  if(WEFT_QUICK)
    get_target_property(options ${name} COMPILE_OPTIONS)
    target_compile_options(${target} PRIVATE ${options})
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
