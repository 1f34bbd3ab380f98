# weft_compile(NAME MODEL file [KIND static|shared] [TARGET processor] [THREADS count] [SHAPES input=sizes...])
#
# The library NAME of a model, compiled by `weft compile` when something is built that is linked with it: its header is
# <NAME.h>. Property WEFT_FOLDER of it is where NAME.weights lies, which programs map or read; with KIND shared weft_open()
# takes that folder, by programs that need not be linked with NAME but depend on it (add_dependencies).
function(weft_compile name)
  cmake_parse_arguments(PARSE_ARGV 1 net "" "MODEL;KIND;TARGET;THREADS" "SHAPES")
  if(NOT net_MODEL)
    message(FATAL_ERROR "weft_compile(${name}): MODEL is missing")
  endif()
  if(NOT net_KIND)
    set(net_KIND static)
  endif()
  set(options --name ${name} --kind ${net_KIND})
  if(net_TARGET)
    list(APPEND options --target ${net_TARGET})
  endif()
  if(net_THREADS)
    list(APPEND options --threads ${net_THREADS})
  endif()
  foreach(shape IN LISTS net_SHAPES)
    list(APPEND options --shape ${shape})
  endforeach()
  cmake_path(ABSOLUTE_PATH net_MODEL BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(library ${folder}/${name}.a)
  if(net_KIND STREQUAL shared)
    set(library ${folder}/${name}.so)
  endif()
  # The project's compiler is for one kind of processor: for others weft takes the usual one.
  set(compiler "")
  if(CMAKE_C_COMPILER AND
      (CMAKE_CROSSCOMPILING OR NOT net_TARGET OR net_TARGET MATCHES "^(c|cpu=native|cpu=x86.*)$"))
    set(compiler ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER})
  endif()
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${library} ${folder}/${name}.h ${folder}/${name}.weights
    COMMAND ${compiler} $<TARGET_FILE:weft::tool> compile ${net_MODEL} -o ${folder} ${options}
    DEPENDS ${net_MODEL} weft::tool VERBATIM)
  add_custom_target(${name}_files DEPENDS ${library})
  string(TOUPPER ${net_KIND} type)
  add_library(${name} ${type} IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION ${library}
    INTERFACE_INCLUDE_DIRECTORIES ${folder}
    INTERFACE_LINK_LIBRARIES m
    WEFT_FOLDER ${folder})
  add_dependencies(${name} ${name}_files)
endfunction()
