# SUNDIALS, where it is installed (Debian: libsundials-dev): the methods `cvode` and `ida`.
# Included after HAMEL_CORE_LIBS is set and before the library is defined. -DHAMEL_SUNDIALS=OFF
# leaves it out.
option(HAMEL_SUNDIALS "build the methods cvode and ida where SUNDIALS (6 or later) is installed" ON)
if(HAMEL_SUNDIALS)
    set(sundials_libs sundials_cvode sundials_ida sundials_nvecserial sundials_sunmatrixdense
        sundials_sunlinsoldense sundials_generic)
    find_path(SUNDIALS_INCLUDE_DIR NAMES sundials/sundials_context.h)
    set(sundials_found ${SUNDIALS_INCLUDE_DIR})
    foreach(library IN LISTS sundials_libs)
        find_library(${library}_LIBRARY ${library})
        if(NOT ${library}_LIBRARY)
            set(sundials_found OFF)
        endif()
    endforeach()
    if(sundials_found)
        list(APPEND HAMEL_CORE_LIBS ${sundials_libs})
        add_compile_definitions(HAMEL_SUNDIALS=1)
    else()
        message(STATUS "SUNDIALS was not found: no methods cvode and ida")
    endif()
endif()
