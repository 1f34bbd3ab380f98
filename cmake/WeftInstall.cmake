# What `cmake --install` puts where: headers, library, the module of LLVM, tool with its manual page and completions, models,
# CMake package, pkg-config files. The component `runtime` is the tool with what it loads, `texts` what the tool says of itself, `run`
# the library for models that were compiled, `development` the rest: cmake/WeftPackage.cmake makes packages of them.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

# A static libweft hands its own dependencies on to whoever links it.
get_target_property(library_type weft TYPE)
set(WEFT_STATIC OFF)
set(WEFT_PC_REQUIRES "Requires.private")
if(library_type STREQUAL "STATIC_LIBRARY")
  set(WEFT_STATIC ON)
  set(WEFT_PC_REQUIRES "Requires")
endif()
set(WEFT_PC_PACKAGES "fmt sqlite3 zlib")
if(WEFT_Z3)
  string(APPEND WEFT_PC_PACKAGES " z3")
endif()
set(WEFT_PC_MODULE "")
if(WEFT_LLVM)
  install(TARGETS weft_llvm_module DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft COMPONENT runtime)
  if(WEFT_STATIC)
    set(WEFT_PC_MODULE " -Wl,-rpath,\${libdir}/weft")
  endif()
endif()

if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(weft_cli PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set_target_properties(weft_cli PROPERTIES EXPORT_NAME tool)
install(TARGETS weft EXPORT weft LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS weft_cli EXPORT weft COMPONENT runtime)
install(TARGETS weft_run_only EXPORT weft LIBRARY COMPONENT run NAMELINK_COMPONENT development)
set(texts ${PROJECT_BINARY_DIR}/cli/texts)
install(FILES ${texts}/weft.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT texts)
install(FILES ${texts}/weft DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT texts)
install(FILES ${texts}/_weft DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT texts)
install(FILES ${texts}/weft.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT texts)
install(FILES ${PROJECT_BINARY_DIR}/src/run/weft_c.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(DIRECTORY include/ ${PROJECT_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/models
  FILES_MATCHING PATTERN *.onnx PATTERN *.png PATTERN *.txt)
install(EXPORT weft NAMESPACE weft:: DESTINATION ${package_dir} FILE weftTargets.cmake)

configure_package_config_file(cmake/weftConfig.cmake.in weftConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/weftConfig.cmake
  ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
  cmake/FindZ3.cmake
  cmake/WeftCompile.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH WEFT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/weft.pc.in weft.pc @ONLY)
configure_file(cmake/weft-run.pc.in weft-run.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc ${PROJECT_BINARY_DIR}/weft-run.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
