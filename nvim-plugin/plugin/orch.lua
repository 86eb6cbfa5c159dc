-- Sourced at every start: entry points only, nothing is required here (:h lua-plugin-lazy).
if vim.g.loaded_orch then
  return
end
vim.g.loaded_orch = true

vim.api.nvim_create_user_command('Orch', function(o)
  require('orch.command').run(o)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'AI coding work, judged by gates you can read',
  complete = function(lead, line, pos)
    return require('orch.complete').complete(lead, line, pos)
  end,
})

-- The plain call: vim.keymap.set() would cost more than everything else here.
local map = vim.api.nvim_set_keymap
for name, sub in pairs({ Do = 'do', Merge = 'merge', Undo = 'undo', Status = 'status', Runs = 'runs', Log = 'log' }) do
  map('n', '<Plug>(Orch' .. name .. ')', '<Cmd>Orch ' .. sub .. '<CR>', {})
end
for name, sub in pairs({ Diff = 'diff', Reply = 'reply', Qa = 'qa', Cancel = 'cancel', Modify = 'modify' }) do
  map('n', '<Plug>(Orch' .. name .. ')', '<Cmd>Orch ' .. sub .. '<CR>', {})
end
-- The selection is the range.
map('x', '<Plug>(OrchModify)', ':Orch modify<CR>', { silent = true })
map('x', '<Plug>(OrchDo)', ':Orch do<CR>', { silent = true })

if type(vim.g.orch) == 'table' and vim.g.orch.attach then
  vim.api.nvim_create_autocmd('UIEnter', {
    once = true,
    callback = function()
      require('orch').attach()
    end,
  })
end
