# Writes a C file with the text of every template, for src/output/export/templates.h.
# Called as: cmake -DOUTPUT=FILE.c "-DTEMPLATES=solve.c.in;motion.c.in" -P EmbedTemplates.cmake
set(arrays "")
foreach(file IN LISTS TEMPLATES)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} bytes HEX)
    file(SIZE ${file} length)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "const char hmi_template_${name}[] = {\n${bytes}0};\n"
                         "const size_t hmi_template_${name}_length = ${length};\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by cmake/EmbedTemplates.cmake. */
#include \"output/export/templates.h\"

${arrays}")
