# Compiler settings for everything below this project, and the function that declares a layer.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ${BUILD_SHARED_LIBS})
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Comments count: of a precompiled header g++ knows each file by the sum of its text, so one made before a comment
# changed does not keep that file from being read again.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_COMMENTS=1 ${CCACHE})
endif()

# g++ collects its garbage often unless it is told how much memory there is: a sixth of the time of a build. In steps, so that
# machines share what ccache keeps; a container may have less than the machine.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  if(EXISTS /sys/fs/cgroup/memory.max)
    file(READ /sys/fs/cgroup/memory.max most)
    string(STRIP "${most}" most)
    if(most MATCHES "^[0-9]+$")
      math(EXPR most "${most} / 1048576")
      if(most LESS memory)
        set(memory ${most})
      endif()
    endif()
  endif()
  math(EXPR heap_mb "${memory} / (2 * (${cores} + 2))")
  foreach(step 800 400 200 100)
    if(NOT heap_mb LESS step)
      add_compile_options(--param=ggc-min-heapsize=${step}000)
      break()
    endif()
  endforeach()
endif()

add_compile_options(-Wall -Wextra -Wpedantic)
if(WEFT_WERROR)
  add_compile_options(-Werror)
endif()
if(WEFT_SANITIZE)
  add_compile_options(
    -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()

# weft_layer(NAME SOURCES file... [APART group...] [LIBRARIES target...])
#
# Compiles the folder src/NAME and adds its objects to the library. LIBRARIES are private: no
# public header may include theirs. APART: see weft_unity.
function(weft_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "SOURCES;APART;LIBRARIES")
  add_library(weft_${name} OBJECT ${layer_SOURCES})
  target_include_directories(weft_${name}
    PRIVATE $<TARGET_PROPERTY:weft,INTERFACE_INCLUDE_DIRECTORIES> ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(weft_${name} PRIVATE fmt::fmt ${layer_LIBRARIES})
  target_sources(weft PRIVATE $<TARGET_OBJECTS:weft_${name}>)
  target_link_libraries(weft PRIVATE ${layer_LIBRARIES})
  weft_use_precompiled(weft_${name} ${weft_layer_headers})
  weft_unity(weft_${name} SOURCES ${layer_SOURCES} APART ${layer_APART})
endfunction()

# weft_backend(NAME SOURCES file... [LIBRARIES target...])
#
# The layer src/backends/NAME, which defines `void weft::add_NAME()`: that adds its devices.
function(weft_backend name)
  weft_layer(${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY weft_backends ${name})
endfunction()

# Generates add_backends(), which calls them all.
function(weft_write_registry)
  get_property(backends GLOBAL PROPERTY weft_backends)
  set(declarations "")
  set(calls "")
  foreach(name IN LISTS backends)
    string(APPEND declarations "void add_${name}();\n")
    string(APPEND calls "  add_${name}();\n")
  endforeach()
  set(registry ${PROJECT_BINARY_DIR}/src/add_backends.cpp)
  file(GENERATE OUTPUT ${registry} CONTENT
    "namespace weft {\n\n${declarations}void add_backends();\n\nvoid add_backends() {\n${calls}}\n\n}  // namespace weft\n")
  target_sources(weft PRIVATE ${registry})
endfunction()
