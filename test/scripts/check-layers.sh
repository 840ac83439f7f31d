# The layering check passes a good tree and names each violation of a bad one.
set -eu
check=$HAMEL_SOURCE_DIR/scripts/check-layers
tree=$TMPDIR/tree
mkdir -p "$tree"/{include/hamel,src/base,src/expr,src/model,tool,examples/c}

put() { # FILE LINE...
    local file=$tree/$1
    shift
    printf '%s\n' "$@" > "$file"
}
put include/hamel/base.h '#include <stddef.h>' '#include <hamel/other.h>'
put src/base/a.c '#include "base/a.h"' '#include <hamel/base.h>' '#include <math.h>'
put src/model/m.c '#include "base/a.h"' '#include "expr/e.h"' '#  include "model/m.h"'
put tool/main.c '#include <hamel/base.h>' '#include "main.h"' '#include <jansson.h>'
put examples/c/use.c '#include <hamel/base.h>' '#include <stdio.h>'
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
put src/expr/e.c '#include "base/a.h"' '#include "model/m.h"';   expect src/expr/e.c:2
put src/expr/e.h '/* */' '# include  "dynamics/uk.h"';           expect src/expr/e.h:2
put src/expr/ops.def '#include "lang/../model/m.h"';              expect src/expr/ops.def:1
put src/expr/f.c '#include "elsewhere.h"';                        expect src/expr/f.c:1
put src/expr/g.c '#include <model/m.h>';                          expect src/expr/g.c:1
put include/hamel/x.h '#include "base/a.h"';                      expect include/hamel/x.h:1
put include/hamel/y.h '#include <unistd.h>';                      expect include/hamel/y.h:1
put tool/t.c '#include <stdio.h>' '#include "base/a.h"';          expect tool/t.c:2
put tool/u.c '#include <base/a.h>';                               expect tool/u.c:1
put examples/c/v.c '#include "private.h"';                        expect examples/c/v.c:1
mkdir "$tree/src/extra"
put src/extra/w.c '#include "base/a.h"';                          expect src/extra/w.c:1
"$check" "$tree"
