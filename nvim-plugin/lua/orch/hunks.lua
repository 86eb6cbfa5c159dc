--- Hunks between the lines of a buffer and another text: which there are, the one under the cursor, taking some over.
local M = {}

---@return string[]
function M.lines_of(text)
  local lines = vim.split((text or ''):gsub('\r\n', '\n'), '\n', { plain = true })
  if #lines > 1 and lines[#lines] == '' then
    table.remove(lines)
  end
  return lines
end

local function text_of(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

--- Whether the buffer holds exactly this text.
function M.same(buf, text)
  return text ~= nil and text_of(buf) == table.concat(M.lines_of(text), '\n')
end

--- The hunks that lead from the file's lines to `target`'s.
function M.to(buf, target)
  local diff = (vim.text and vim.text.diff) or vim.diff
  local from = text_of(buf) .. '\n'
  return diff(from, table.concat(target, '\n') .. '\n', { result_type = 'indices', algorithm = 'histogram' })
end

--- Puts hunks of `target` into the buffer from the end, so that marks, folds and extmarks of other lines stay. One undo step.
function M.take(buf, target, chosen)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('let &l:undolevels = &l:undolevels') -- begins a new undo step (:h undo-break)
  end)
  for i = #chosen, 1, -1 do
    local start, count, from, size = unpack(chosen[i])
    if i < #chosen then
      vim.api.nvim_buf_call(buf, function()
        vim.cmd('silent! undojoin')
      end)
    end
    local first = count == 0 and start or start - 1
    vim.api.nvim_buf_set_lines(buf, first, first + count, true, vim.list_slice(target, from, from + size - 1))
  end
  return #chosen
end

--- Where the cursor is, in lines of the person's file: the diff lines both windows up, so the screen row tells.
function M.at_cursor(file, hunks)
  local here = vim.api.nvim_get_current_buf()
  local win = here == file.other and 0 or vim.fn.bufwinid(file.real)
  if win == -1 then
    return nil
  end
  local line = vim.api.nvim_win_get_cursor(win)[1]
  for _, hunk in ipairs(hunks) do
    local start, count, from, size = unpack(hunk)
    local first, length = start, count
    if here == file.other then
      first, length = from, size
    end
    -- An empty side of a hunk stands between two lines: both count.
    if line >= first and line <= first + math.max(length - 1, length == 0 and 1 or 0) then
      return hunk
    end
  end
end

return M
