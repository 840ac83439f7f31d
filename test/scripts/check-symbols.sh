# The symbol check passes a good library and names each wrong symbol of a bad one.
set -eu
cd "$TMPDIR"
mkdir -p include/hamel
cat > include/hamel/all.h <<'EOF'
#define HM_API __attribute__((visibility("default")))
#define HM_MUST __attribute__((warn_unused_result))
HM_API int hm_one(int (*callback)(void));
HM_API HM_MUST const char *hm_two(void);
HM_API extern const int hm_table[3];
EOF

library() { # C text
    { echo '#include <hamel/all.h>'; cat; } > code.c
    gcc -Iinclude -fPIC -fvisibility=hidden -c code.c -o code.o
    rm -f libhamel.a
    ar rcs libhamel.a code.o
    gcc -shared code.o -o libhamel.so
}
good='int hm_one(int (*f)(void)) { return f(); } const char *hm_two(void) { return ""; }
const int hm_table[3] = {1}; int hmi_inner(void) { return 0; } static int local; int *hmi_x(void) { return &local; }'
check() { "$HAMEL_SOURCE_DIR/scripts/check-symbols" . include; }

library <<< "$good"
check

expect() { # NAME, C text added
    library <<< "$good $2"
    if said=$(check); then
        echo "not noticed: $1"
        exit 1
    fi
    grep -q "^    $1\$" <<< "$said" || { echo "expected $1, got: $said"; exit 1; }
}
expect stray 'int stray(void) { return 0; }'
expect shown 'HM_API int shown; '
expect hm_unlisted 'HM_API int hm_unlisted(void) { return 0; }'
good=${good/hm_two/hmi_two}
expect hm_two ''
