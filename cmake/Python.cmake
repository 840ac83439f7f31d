# The Python module (python/), target `python`: optional, built where Python's headers are. The package is put
# together in build/PRESET/python/hamel, ready to be imported from there or packed by scripts/wheel.
set(python_program /usr/bin/python3 CACHE FILEPATH "the Python whose headers the module is built with")
execute_process(COMMAND ${python_program} -c "import sysconfig; print(sysconfig.get_paths()['include'])"
    OUTPUT_VARIABLE python_include OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT python_include OR NOT EXISTS ${python_include}/Python.h)
    message(STATUS "No Python module: Python's headers are missing (python3-dev)")
    return()
endif()
file(GLOB python_c CONFIGURE_DEPENDS python/*.c)
file(GLOB python_files CONFIGURE_DEPENDS python/hamel/*.py python/hamel/*.pyi python/hamel/py.typed)
set(python_package ${PROJECT_BINARY_DIR}/python/hamel)
add_library(hamel_python MODULE EXCLUDE_FROM_ALL ${python_c})
set_target_properties(hamel_python PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so
    LIBRARY_OUTPUT_DIRECTORY ${python_package} C_VISIBILITY_PRESET hidden)
target_include_directories(hamel_python SYSTEM PRIVATE ${python_include})
# Slots of types hold functions as void *, which POSIX allows and ISO C does not.
set_source_files_properties(${python_c} PROPERTIES COMPILE_OPTIONS -Wno-pedantic)
target_link_options(hamel_python PRIVATE -Wl,--exclude-libs,ALL)
target_link_libraries(hamel_python PRIVATE hamel_flags hamel_static m)
add_custom_target(python
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${python_files} ${python_package}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${python_package}/bin
    COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:hamel_tool> ${python_package}/bin/hamel
    DEPENDS hamel_python hamel_tool VERBATIM)
