#!/usr/bin/env bash
# The language server through a client that is not ours: Neovim without a screen.
set -eu
command -v nvim > /dev/null || { echo "neovim is not there"; exit 77; }
export HOME=$TMPDIR XDG_STATE_HOME=$TMPDIR XDG_CACHE_HOME=$TMPDIR XDG_DATA_HOME=$TMPDIR LC_ALL=C.UTF-8
printf "coord x, θ\nkinetic x'^2 + θ'^2\npotential θ*zeta\n" > "$TMPDIR/model.hamel"
timeout 60 nvim --headless --clean -n "$TMPDIR/model.hamel" -c "luafile $HAMEL_SOURCE_DIR/test/tool/lsp_neovim.lua"
