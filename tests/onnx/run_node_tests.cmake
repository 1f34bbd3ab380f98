# Unpacks cases of the ONNX standard, and others in its layout, and runs them: all pass but those of not_passed.txt.
# Usage: cmake -D WEFT=weft -D TESTS=this/folder -D SCRATCH=folder -P run_node_tests.cmake
file(REMOVE_RECURSE ${SCRATCH})
file(GLOB archives ${TESTS}/*_tests.zip)
foreach(archive IN LISTS archives ITEMS ${TESTS}/driving.zip)
  get_filename_component(name ${archive} NAME_WE)
  file(MAKE_DIRECTORY ${SCRATCH}/${name})
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar xf ${archive}
    WORKING_DIRECTORY ${SCRATCH}/${name} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# What networks compute is near to 0 in places, which says nothing of how far it is off.
execute_process(COMMAND ${WEFT} onnx-test --atol 1e-4 ${SCRATCH}/driving COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${SCRATCH}/driving)
execute_process(COMMAND ${WEFT} onnx-test --jobs 2 --expected ${TESTS}/not_passed.txt ${SCRATCH}
  COMMAND_ERROR_IS_FATAL ANY)
