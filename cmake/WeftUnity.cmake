# How sources are compiled. By default neighbours of a target are compiled together ("unity build"), behind headers that are
# precompiled, which makes a build from nothing shorter. An edit then compiles the whole group, so the preset `edit`
# compiles each source by itself. Missing includes, which a group hides, are found by scripts/check_standalone.sh.

option(WEFT_UNITY "Compile neighbouring sources together, behind precompiled headers; do not optimise tests" ON)

# Sources in a group. More save headers and templates that are compiled once for all, but leave fewer groups for the cores.
set(group_size 24)

set(standard_headers
  <algorithm> <array> <bit> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <mutex> <numeric>
  <optional> <ranges> <set> <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>)

# weft_precompile(NAME HEADERS header... LIBRARIES library... [OPTIONS option...])
#
# Precompiles these and the standard library's headers, for targets that have the same options and definitions.
function(weft_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 list "" "" "HEADERS;LIBRARIES;OPTIONS")
  if(NOT WEFT_UNITY)
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:weft,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${name} PRIVATE ${list_LIBRARIES})
  target_compile_options(${name} PRIVATE ${list_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${standard_headers} ${list_HEADERS})
endfunction()

# weft_use_precompiled(TARGET NAME)
#
# Puts the precompiled headers NAME in front of the target's sources, and takes over their options.
function(weft_use_precompiled target name)
  if(NOT WEFT_UNITY)
    return()
  endif()
  get_target_property(options ${name} COMPILE_OPTIONS)
  target_compile_options(${target} PRIVATE ${options})
  target_precompile_headers(${target} REUSE_FROM ${name})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" AND CMAKE_POSITION_INDEPENDENT_CODE)  # as the headers are, not by -fPIE
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# weft_unity(TARGET SOURCES file... [APART group...])
#
# Compiles the sources in groups of equal length. APART: groups of their own, each a file or a quoted list of files, since
# names that are private to them are private names of a neighbour too.
function(weft_unity target)
  cmake_parse_arguments(PARSE_ARGV 1 list "" "" "SOURCES;APART")
  if(NOT WEFT_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(together ${list_SOURCES})
  set(index 0)
  foreach(group IN LISTS list_APART)
    list(REMOVE_ITEM together ${group})
    list(LENGTH group count)
    if(count GREATER 1)
      math(EXPR index "${index} + 1")
      set_source_files_properties(${group} PROPERTIES UNITY_GROUP "${target}_apart_${index}")
    endif()
  endforeach()
  list(LENGTH together count)
  math(EXPR groups "(${count} + ${group_size} - 1) / ${group_size}")
  set(index 0)
  foreach(file IN LISTS together)
    math(EXPR group "${index} * ${groups} / ${count}")
    math(EXPR index "${index} + 1")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP "${target}_${group}")
  endforeach()
endfunction()
