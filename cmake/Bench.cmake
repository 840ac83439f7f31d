# bench/bench_*.c are programs, bench/*.c otherwise is shared by them; built by target `bench` only
# and listed in bench.list for `make bench`.
file(GLOB bench_programs CONFIGURE_DEPENDS bench/bench_*.c)
file(GLOB bench_shared CONFIGURE_DEPENDS bench/*.c)
if(bench_programs)
    list(REMOVE_ITEM bench_shared ${bench_programs})
endif()
list(SORT bench_programs)

# Yardsticks written by hand (bench/hand), as fast as this machine lets them be.
add_library(bench_hand STATIC EXCLUDE_FROM_ALL bench/hand/hand.c bench/hand/hand_long.c)
target_include_directories(bench_hand PRIVATE bench)
target_compile_options(bench_hand PRIVATE -O3 -march=native -ffp-contract=fast)

# Peers (bench/peers), where they are installed: scripts/setup bench.
find_package(Simbody QUIET)
if(Simbody_FOUND)
    include(CheckLanguage)
    check_language(CXX)
endif()
if(Simbody_FOUND AND CMAKE_CXX_COMPILER)
    enable_language(CXX)
    add_executable(simbody_chain EXCLUDE_FROM_ALL bench/peers/simbody_chain.cpp)
    set_target_properties(simbody_chain PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    target_compile_options(simbody_chain PRIVATE -O3)
    target_include_directories(simbody_chain SYSTEM PRIVATE ${Simbody_INCLUDE_DIR})
    target_link_libraries(simbody_chain PRIVATE ${Simbody_LIBRARIES})
endif()

add_custom_target(bench)
if(TARGET simbody_chain)
    add_dependencies(bench simbody_chain)
endif()
set(bench_list "")
foreach(source IN LISTS bench_programs)
    get_filename_component(target ${source} NAME_WE)
    add_executable(${target} EXCLUDE_FROM_ALL ${source} ${bench_shared})
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    target_compile_options(${target} PRIVATE -O3 -march=native)
    target_include_directories(${target} PRIVATE src bench)
    target_compile_definitions(${target} PRIVATE ${HAMEL_PROGRAM_DEFINITIONS}
        HAMEL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HAMEL_PEERS="${PROJECT_BINARY_DIR}/bench")
    target_link_libraries(${target} PRIVATE hamel_flags bench_hand hamel_static ${HAMEL_BENCH_LIBS} m)
    add_dependencies(bench ${target})
    string(APPEND bench_list "$<TARGET_FILE:${target}>\n")
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/bench.list CONTENT "${bench_list}")
