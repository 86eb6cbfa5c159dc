--- A buffer of ours in a split, and the small help over it.
local M = {}

---@return integer?
function M.find(name)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buf) == name then
      if vim.b[buf].orch_view then
        return buf
      end
      -- A session brought the name back, not the buffer.
      pcall(vim.api.nvim_buf_delete, buf, {})
    end
  end
end

function M.set_lines(buf, from, lines)
  vim.bo[buf].modifiable = true
  vim.bo[buf].undolevels = -1
  vim.api.nvim_buf_set_lines(buf, from, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

--- Small help in a float; any of its keys closes it.
---@param title string
---@param lines string[]
function M.help(title, lines)
  local buf = vim.api.nvim_create_buf(false, true)
  M.set_lines(buf, 0, lines)
  vim.bo[buf].bufhidden = 'wipe'
  local width = 20
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line) + 2)
  end
  width = math.min(width, vim.o.columns - 4)
  local height = math.min(#lines, vim.o.lines - 6)
  local win = vim.api.nvim_open_win(buf, true, {
    relative = 'editor',
    style = 'minimal',
    border = 'rounded',
    title = ' ' .. title .. ' ',
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
  })
  for _, lhs in ipairs({ 'q', '<Esc>', 'g?', '<CR>' }) do
    vim.keymap.set('n', lhs, function()
      pcall(vim.api.nvim_win_close, win, true)
    end, { buffer = buf, nowait = true })
  end
end

--- The last window of all cannot be closed: then the window gets an empty buffer.
local function leave()
  if not pcall(vim.cmd.close) then
    vim.cmd('silent! enew')
  end
end

--- Opens (or goes to) a buffer of ours in a split. `on_hide` is called with the
--- buffer when no window shows it any more. The cursor goes
--- there unless `enter` is false.
---@return integer? buf nil when there was no room for a window
function M.open(name, filetype, keys, help, on_hide, enter)
  local before = vim.api.nvim_get_current_win()
  local buf = M.find(name)
  local win = buf and vim.fn.bufwinid(buf) or -1
  if win ~= -1 then
    if enter ~= false then
      vim.api.nvim_set_current_win(win)
    end
    return buf
  end
  local fresh = not buf
  if not buf then
    buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buf, name)
    vim.b[buf].orch_view = true
    vim.bo[buf].bufhidden = 'wipe'
    vim.bo[buf].modifiable = false
  end
  local ok, err = pcall(function()
    vim.cmd('botright sbuffer ' .. buf)
  end)
  if not ok then
    if fresh then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
    local why = tostring(err):gsub('^.-(E%d+)', '%1')
    require('orch.ui').fault({ message = 'no window for ' .. filetype, hint = why })
    return
  end
  vim.wo[0][0].wrap = false
  vim.wo[0][0].number = false
  vim.wo[0][0].relativenumber = false
  vim.wo[0][0].list = false
  vim.wo[0][0].spell = false
  vim.wo[0][0].cursorline = true
  if fresh then
    keys = vim.tbl_extend('keep', keys, {
      q = leave,
      ['g?'] = function()
        M.help(filetype, help)
      end,
    })
    for lhs, rhs in pairs(keys) do
      vim.keymap.set('n', lhs, rhs, { buffer = buf, nowait = true })
    end
    vim.api.nvim_create_autocmd('BufWipeout', {
      buffer = buf,
      once = true,
      callback = function()
        if on_hide then
          on_hide(buf)
        end
      end,
    })
    vim.bo[buf].filetype = filetype -- last, so that the person's own settings win
  end
  if enter == false and vim.api.nvim_win_is_valid(before) then
    vim.api.nvim_set_current_win(before)
  end
  return buf
end

return M
