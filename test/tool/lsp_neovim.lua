-- Neovim as a client of the language server: diagnostics, hover and renaming through its own functions.
local function fail(what) io.stderr:write(what .. "\n") vim.cmd("cquit 1") end
local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({ name = "hamel", cmd = { os.getenv("HAMEL"), "lsp" }, root_dir = os.getenv("TMPDIR") })
if not client or not vim.lsp.buf_attach_client(buffer, client) then fail("no client") end
local function diagnostics(count)
    return vim.wait(20000, function() return #vim.diagnostic.get(buffer) == count end, 20)
end
if not diagnostics(1) then fail("no diagnostic") end
local found = vim.diagnostic.get(buffer)[1]
if found.lnum ~= 2 or found.col ~= #"potential θ*" then fail("diagnostic at " .. found.lnum .. ":" .. found.col) end
vim.api.nvim_buf_set_lines(buffer, 2, 3, true, { "potential θ*x" })
if not diagnostics(0) then fail("the diagnostic stays") end
vim.api.nvim_win_set_cursor(0, { 1, #"coord x, " })
local answers = vim.lsp.buf_request_sync(buffer, "textDocument/hover", vim.lsp.util.make_position_params(0, "utf-16"), 20000)
local hover = answers[client].result
if not hover or not hover.contents.value:find("coordinate") then fail("no hover") end
local params = vim.lsp.util.make_position_params(0, "utf-16")
params.newName = "phi"
local edit = vim.lsp.buf_request_sync(buffer, "textDocument/rename", params, 20000)[client].result
vim.lsp.util.apply_workspace_edit(edit, "utf-16")
local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n")
if text ~= "coord x, phi\nkinetic x'^2 + phi'^2\npotential phi*x" then fail("renamed: " .. text) end
vim.cmd("qall!")
