# Writes a C file with the text of every example, so that `hamel run skate` needs no files.
# Bytes, not string literals: a compiler need not accept literals beyond 4095 characters.
# Called as: cmake -DOUTPUT=FILE.c "-DEXAMPLES=a.hamel;b.hamel" -P EmbedExamples.cmake
list(SORT EXAMPLES)
set(arrays "")
set(table "")
set(count 0)
foreach(file IN LISTS EXAMPLES)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} bytes HEX)
    file(SIZE ${file} length)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "static const unsigned char text_${count}[] = {\n${bytes}0};\n")
    string(APPEND table "    {\"${name}\", (const char *)text_${count}, ${length}},\n")
    math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* Made by cmake/EmbedExamples.cmake from examples/. */
#include \"examples.h\"

${arrays}
/* The last entry is a sentinel: C has no empty arrays. */
const struct hamel_example hamel_examples[] = {
${table}    {0, 0, 0},
};
const size_t hamel_example_count = ${count};
")
