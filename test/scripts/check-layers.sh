# The layering check passes a good tree and names each violation of a bad one.
set -eu
check=$HAMEL_SOURCE_DIR/scripts/check-layers
tree=$TMPDIR/tree
mkdir -p "$tree"/{include/hamel,src/base,src/expr/graph,src/expr/print,src/model,tool,examples/c}

put() { # FILE LINE...
    local file=$tree/$1
    shift
    printf '%s\n' "$@" > "$file"
}
put include/hamel/base.h '#include <stddef.h>' '#include <hamel/other.h>'
put src/base/a.c '#include "base/a.h"' '#include <hamel/base.h>' '#include <math.h>'
put src/model/m.c '#include "base/a.h"' '#include "expr/graph/e.h"' '#  include "model/m.h"'
put tool/main.c '#include <hamel/base.h>' '#include "main.h"' '#include <jansson.h>'
put examples/c/use.c '#include <hamel/base.h>' '#include <stdio.h>'
for folder in base expr/graph expr/print model; do
    printf '# %s\n' "$folder" > "$tree/src/$folder/README.md"
done
echo 'Files: `a.c`.' >> "$tree/src/base/README.md"
echo 'Files: `m.c`.' >> "$tree/src/model/README.md"
"$check" "$tree"

expect() { # FILE:LINE, after the file was made bad
    local said
    if said=$("$check" "$tree"); then
        echo "not noticed: $1"
        exit 1
    fi
    case "$said" in
        "$1: "*) ;;
        *) echo "expected $1, got: $said"; exit 1 ;;
    esac
    rm "$tree/${1%:*}"
}
put src/expr/graph/e.c '#include "base/a.h"' '#include "model/m.h"';   expect src/expr/graph/e.c:2
put src/expr/graph/e.h '/* */' '# include  "dynamics/formulations/uk.h"';           expect src/expr/graph/e.h:2
put src/expr/graph/ops.def '#include "lang/../model/m.h"';              expect src/expr/graph/ops.def:1
put src/expr/graph/f.c '#include "elsewhere.h"';                        expect src/expr/graph/f.c:1
put src/expr/graph/g.c '#include <model/m.h>';                          expect src/expr/graph/g.c:1
put include/hamel/x.h '#include "base/a.h"';                      expect include/hamel/x.h:1
put include/hamel/y.h '#include <unistd.h>';                      expect include/hamel/y.h:1
put tool/t.c '#include <stdio.h>' '#include "base/a.h"';          expect tool/t.c:2
put tool/u.c '#include <base/a.h>';                               expect tool/u.c:1
put examples/c/v.c '#include "private.h"';                        expect examples/c/v.c:1
put src/expr/graph/p.c '#include "expr/print/print.h"';           expect src/expr/graph/p.c:1
mkdir "$tree/src/extra"
put src/extra/w.c '#include "base/a.h"';                          expect src/extra/w.c:1
rm -r "$tree/src/extra"
"$check" "$tree"

# READMEs are kept true.
readme=$tree/src/base/README.md
cp "$readme" "$TMPDIR/good"
expect_readme() { # LINE, after the README was made bad
    local said
    if said=$("$check" "$tree"); then
        echo "not noticed: README line $1"
        exit 1
    fi
    case "$said" in
        "src/base/README.md:$1: "*) ;;
        *) echo "expected README line $1, got: $said"; exit 1 ;;
    esac
    cp "$TMPDIR/good" "$readme"
}
echo '# base' > "$readme";                    expect_readme 1
echo 'And `gone.c`.' >> "$readme";            expect_readme 3
yes 'text' | head -n 50 >> "$readme";         expect_readme 52
rm "$readme";                                 expect_readme 1
"$check" "$tree"
