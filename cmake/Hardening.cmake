# What makes a mistake harder to exploit, and two builds of one source the same bytes.
# scripts/check-hardening looks at what came of it, scripts/check-reproducible at the bytes.
# Release builds only: the sanitizers check more, -O0 has no fortified functions, and gcov needs paths.
include(CheckCCompilerFlag)
include(CheckPIESupported)
option(HAMEL_HARDENING "stack protector, fortified functions, full RELRO, PIE, CET or BTI" ON)

if(NOT (HAMEL_HARDENING AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$"))
    return()
endif()

foreach(flag -fstack-protector-strong -fstack-clash-protection)
    string(MAKE_C_IDENTIFIER "HAS${flag}" has)
    check_c_compiler_flag(${flag} ${has})
    if(${has})
        target_compile_options(hamel_flags INTERFACE ${flag})
    endif()
endforeach()

# Indirect jumps may only go where functions begin: x86-64 has CET for it, AArch64 BTI and PAC.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(branch_flag -fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(branch_flag -mbranch-protection=standard)
endif()
if(branch_flag)
    check_c_compiler_flag(${branch_flag} HAS_BRANCH_PROTECTION)
    if(HAS_BRANCH_PROTECTION)
        target_compile_options(hamel_flags INTERFACE ${branch_flag})
    endif()
endif()
# Interpreters jump to a label for every instruction; a mark at each label costs them 9 % (callgrind), and the
# labels come from a table of constants. Returns stay protected there.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND HAS_BRANCH_PROTECTION)
    set_property(SOURCE src/compile/tape/interpreter.c src/compile/jet/interpreter.c APPEND PROPERTY
        COMPILE_OPTIONS -fcf-protection=return)
endif()

# One evaluation of a small system takes a hundred nanoseconds, of which the check of the stack would be a
# tenth; the file has no arrays on the stack, only the structures whose address it passes on.
set_property(SOURCE src/integrate/ode/ode.c APPEND PROPERTY COMPILE_OPTIONS -fno-stack-protector)

# Level 3 (sizes known at run time) where compiler and C library have it, else they fall back to 2.
target_compile_options(hamel_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)

# All symbols are bound at the start and their table is read-only from then on; no stack is executable.
target_link_options(hamel_flags INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # of programs: PIE

# No path of this machine in what is built. The last one that fits counts.
target_compile_options(hamel_flags INTERFACE
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
