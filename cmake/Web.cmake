# The parts of pages (`hamel report`), built from web/ by scripts/web into build/web, for tool/report.h.
# Without them the command says so when it is asked for a page.
set(web_built ${PROJECT_SOURCE_DIR}/build/web)
set(embedded_web ${PROJECT_BINARY_DIR}/embedded_web.c)
set(web_text [=[/* Made by cmake/Web.cmake: files as they are, by the assembler. */
#include "report.h"

#define EMBED(name, content) \
    __asm__(".section .rodata\n.balign 16\n.global " #name "\n" #name ":\n" content "1:\n" \
            ".byte 0\n.balign 16\n.global " #name "_length\n" #name "_length:\n" \
            ".dc.a 1b - " #name "\n.text\n");

]=])
set(web_files "")
foreach(file page.js page.css page.hash)
    string(REPLACE "page." "web_" name ${file})
    set(content "\"\"")
    if(EXISTS ${web_built}/page.js)
        set(content "\".incbin \\\"${web_built}/${file}\\\"\\n\"")
        list(APPEND web_files ${web_built}/${file})
    endif()
    string(APPEND web_text "EMBED(${name}, ${content})\n")
endforeach()
file(CONFIGURE OUTPUT ${embedded_web} CONTENT "${web_text}" @ONLY)
set_source_files_properties(${embedded_web} PROPERTIES OBJECT_DEPENDS "${web_files}")
