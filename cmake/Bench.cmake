# bench/bench_*.c are programs, bench/*.c otherwise is shared by them; built by target `bench` only
# and listed in bench.list for `make bench`.
file(GLOB bench_programs CONFIGURE_DEPENDS bench/bench_*.c)
file(GLOB bench_shared CONFIGURE_DEPENDS bench/*.c)
if(bench_programs)
    list(REMOVE_ITEM bench_shared ${bench_programs})
endif()
list(SORT bench_programs)
add_custom_target(bench)
set(bench_list "")
foreach(source IN LISTS bench_programs)
    get_filename_component(target ${source} NAME_WE)
    add_executable(${target} EXCLUDE_FROM_ALL ${source} ${bench_shared})
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    target_compile_options(${target} PRIVATE -O3 -march=native)
    target_include_directories(${target} PRIVATE src bench)
    target_compile_definitions(${target} PRIVATE ${HAMEL_PROGRAM_DEFINITIONS}
        HAMEL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} PRIVATE hamel_flags hamel_static ${HAMEL_BENCH_LIBS} m)
    add_dependencies(bench ${target})
    string(APPEND bench_list "$<TARGET_FILE:${target}>\n")
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/bench.list CONTENT "${bench_list}")
