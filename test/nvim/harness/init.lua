-- nvim -u: the plugin under test and nothing of the person's.
vim.opt.runtimepath:prepend(vim.env.ORCH_PLUGIN)
vim.o.swapfile = false
-- File types ask for these, and looking for them starts every Python of the machine.
for _, name in ipairs({ 'python3', 'node', 'ruby', 'perl' }) do
  vim.g['loaded_' .. name .. '_provider'] = 0
end
vim.o.laststatus = 2
vim.o.statusline = "%f %m%=%{get(g:, 'orch_status', '')} "

-- Questions are answered by what the test put into _G.answers, by a Lua pattern of the prompt.
_G.answers, _G.asked, _G.events = {}, {}, {}
if vim.env.ORCH_TEST_ANSWER ~= 'person' then
  vim.ui.select = function(items, opts, done)
    table.insert(_G.asked, opts.prompt)
    for pattern, choice in pairs(_G.answers) do
      if opts.prompt:find(pattern) then
        for _, item in ipairs(items) do
          local label = opts.format_item and opts.format_item(item) or tostring(item)
          if label == choice then
            return vim.schedule(function()
              done(item)
            end)
          end
        end
      end
    end
    vim.schedule(function()
      done(nil)
    end)
  end
  vim.ui.input = function(opts, done)
    table.insert(_G.asked, opts.prompt)
    for pattern, text in pairs(_G.answers) do
      if opts.prompt:find(pattern) then
        return vim.schedule(function()
          done(text)
        end)
      end
    end
    vim.schedule(function()
      done(nil)
    end)
  end
end

vim.api.nvim_create_autocmd('User', {
  pattern = 'Orch*',
  callback = function(event)
    table.insert(_G.events, { event.match, event.data })
  end,
})
