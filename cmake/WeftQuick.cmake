# For builds from nothing, such as CI's: headers that most sources begin with are compiled once, the sources of a target
# several at a time, and tests are not optimised. A third of the time of a build by clang with sanitizers. It hides
# includes that are missing, which other builds and clang-tidy find, and an edit compiles more than the file.

option(WEFT_QUICK "Compile several sources at a time, and do not optimise tests: for builds from nothing" OFF)

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
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE" AND CMAKE_POSITION_INDEPENDENT_CODE)  # as the headers are, not by -fPIE
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  endif()
endfunction()

# weft_together(TARGET SOURCES file... [ALONE file...])
#
# Compiles up to eight neighbours of the list at a time, but for those ALONE: their own names are those of a neighbour.
function(weft_together target)
  cmake_parse_arguments(PARSE_ARGV 1 list "" "" "SOURCES;ALONE")
  if(NOT WEFT_QUICK)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(count 0)
  foreach(file IN LISTS list_SOURCES)
    math(EXPR group "${count} / 8")
    math(EXPR count "${count} + 1")
    if(NOT file IN_LIST list_ALONE)
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP "${target}_${group}")
    endif()
  endforeach()
endfunction()
