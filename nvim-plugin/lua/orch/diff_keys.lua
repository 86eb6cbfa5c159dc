--- The keys of a diff, and what its help says of them.
local M = {}

local help = {
  'gk  keep the hunk        gK  keep the file',
  'gx  discard the hunk     gX  discard the file',
  ']f  next file            [f  previous file',
  'u   take back one step   g?  this help',
  'q   close',
  '',
  'The same from the file itself: :Orch keep [file|all], :Orch discard [file|all].',
  'Nothing is written: :w does that.',
}

---@param buf integer
---@param diff table the diff that the keys act on
function M.map(buf, diff)
  local keys = {
    gk = function()
      diff.act('keep', 'hunk')
    end,
    gK = function()
      diff.act('keep', 'file')
    end,
    gx = function()
      diff.act('discard', 'hunk')
    end,
    gX = function()
      diff.act('discard', 'file')
    end,
    [']f'] = function()
      diff.go(1)
    end,
    ['[f'] = function()
      diff.go(-1)
    end,
    u = diff.undo,
    q = diff.close,
    ['g?'] = function()
      require('orch.pane').help('orch diff', help)
    end,
  }
  for lhs, rhs in pairs(keys) do
    vim.keymap.set('n', lhs, rhs, { buffer = buf, nowait = true })
  end
end

return M
