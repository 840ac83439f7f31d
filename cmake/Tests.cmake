# Tests: registered with ctest, and listed in tests.list for scripts/run-tests, one a line:
#   KIND|NAME|TARGET|PROGRAM     KIND is cmocka (counts its cases) or program (exit status)
enable_testing()
set(test_list "")

# The tests' own helpers (allocators that fail, readers of test/data, ...).
file(GLOB support_sources CONFIGURE_DEPENDS test/support/*.c)
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS
    test/unit/test_*.c test/physics/test_*.c test/fault/test_*.c test/cases/test_*.c)
list(SORT test_sources)

if(NOT (CMOCKA_FOUND AND LAPACK_FOUND AND MPFR_FOUND))
    message(STATUS "No unit tests: their libraries are missing (scripts/setup installs them)")
    set(test_sources "")
endif()

# Everything a test program gets; an object library for the helpers, so that they compile once.
add_library(hamel_test_settings INTERFACE)
target_include_directories(hamel_test_settings INTERFACE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/test)
target_compile_options(hamel_test_settings INTERFACE -UNDEBUG) # assert() in a test means it
target_compile_definitions(hamel_test_settings INTERFACE ${HAMEL_PROGRAM_DEFINITIONS}
    HAMEL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HAMEL_TOOL="${PROJECT_BINARY_DIR}/hamel")
target_link_libraries(hamel_test_settings INTERFACE hamel_flags hamel_static ${HAMEL_TEST_LIBS} m)
if(support_sources AND test_sources)
    add_library(hamel_test_support OBJECT ${support_sources})
    target_link_libraries(hamel_test_support PRIVATE hamel_test_settings)
    set(support_objects $<TARGET_OBJECTS:hamel_test_support>)
endif()

# test/unit/base/test_text.c: ctest name unit/base/text, target test_unit_base_text
foreach(source IN LISTS test_sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/test ${source})
    get_filename_component(folder ${name} DIRECTORY)
    get_filename_component(base ${name} NAME_WE)
    string(REGEX REPLACE "^test_" "" short ${base})
    set(name ${folder}/${short})
    string(REPLACE "/" "_" target test_${name})
    add_executable(${target} ${source} ${support_objects})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${base} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/${folder})
    target_link_libraries(${target} PRIVATE hamel_test_settings)
    file(STRINGS ${source} uses_tool REGEX HAMEL_TOOL)
    if(uses_tool AND tool_target)
        add_dependencies(${target} ${tool_target})
    endif()
    add_test(NAME ${name} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(APPEND test_list "cmocka|${name}|${target}|$<TARGET_FILE:${target}>\n")
endforeach()

# Programs of users: public headers and strict C only.
file(GLOB program_sources CONFIGURE_DEPENDS examples/c/*.c)
list(SORT program_sources)
foreach(source IN LISTS program_sources)
    get_filename_component(base ${source} NAME_WE)
    set(target example_${base})
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${base} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/c)
    target_compile_options(${target} PRIVATE -UNDEBUG)
    target_link_libraries(${target} PRIVATE hamel_flags hamel_static m)
    add_test(NAME examples/c/${base} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(APPEND test_list "program|examples/c/${base}|${target}|$<TARGET_FILE:${target}>\n")
endforeach()

file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests.list CONTENT "${test_list}")
