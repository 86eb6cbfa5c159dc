--- A change in a tab of its own: the file as it is beside the text it had or would get. `keep` leaves the person's file
--- with the new text, `discard` with the old one; each is one undo step, and nothing is written: `:w` does that.
local M = {}

local hunks = require('orch.hunks')

---@class orch.DiffFile
---@field path string in the repository
---@field file string absolute
---@field old? string
---@field new? string

---@class orch.Diff
---@field root string
---@field title string
---@field files orch.DiffFile[]
---@field at integer the file that is shown
---@field tab integer
---@field ticks table<integer, integer> by buffer: what it was when it was last ours to change
---@field scratch integer[]

local current ---@type orch.Diff?

local function say(text, level)
  require('orch.ui').notify(text, level)
end

local function scratch(file, side, text)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, ('orch://%s/%d/%s'):format(side, buf, file.path))
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, hunks.lines_of(text))
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = 'wipe'
  local filetype = vim.filetype.match({ filename = file.file, buf = buf })
  if filetype then
    vim.bo[buf].filetype = filetype
  end
  table.insert(current.scratch, buf)
  return buf
end

local function winbar(text)
  vim.wo[0][0].winbar = '%=' .. text:gsub('%%', '%%%%') .. '%='
end

--- Only the current window of the tab stays. Not `:only`, which wants to know about modified buffers of a person who
--- has 'nohidden'.
local function alone()
  local here = vim.api.nvim_get_current_win()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if win ~= here and vim.api.nvim_win_get_config(win).relative == '' then
      pcall(vim.api.nvim_win_hide, win)
    end
  end
end

--- Shows file number `at` in the tab's two windows: the person's file always is one of them.
local function show(at)
  current.at = at
  local file = current.files[at]
  vim.api.nvim_set_current_tabpage(current.tab)
  local real = vim.fn.bufadd(file.file)
  vim.fn.bufload(real)
  vim.bo[real].buflisted = true
  -- A window of its own for the file, before the others go: what they show stays loaded whatever 'hidden' says.
  vim.cmd('topleft vsplit')
  vim.wo[0][0].winfixbuf = false
  vim.api.nvim_win_set_buf(0, real)
  alone()
  vim.cmd.diffoff()
  -- The change is in the tree when the file holds its new text; else it was kept aside.
  file.applied = hunks.same(real, file.new or '')
  local place = ('%s (%d of %d)'):format(file.path, at, #current.files)
  winbar(place .. (file.applied and ': as it is now' or ': your file'))
  vim.cmd.diffthis()
  vim.cmd(file.applied and 'leftabove vsplit' or 'rightbelow vsplit')
  local other = scratch(file, file.applied and 'before' or 'change', file.applied and file.old or file.new)
  vim.api.nvim_win_set_buf(0, other)
  winbar(file.applied and 'before' or (file.new and 'the change' or 'the change deletes it'))
  vim.cmd.diffthis()
  require('orch.diff_keys').map(other, M)
  file.real, file.other = real, other
  current.ticks[real] = current.ticks[real] or (not vim.bo[real].modified and vim.b[real].changedtick or nil)
  -- On the first hunk, when there is one.
  pcall(vim.cmd, 'silent! normal! gg]c')
end

--- Takes back one step of the file that is shown.
function M.undo()
  local real = current and current.files[current.at].real
  if real and vim.bo[real].modified then
    vim.api.nvim_buf_call(real, function()
      vim.cmd('silent undo')
    end)
    current.ticks[real] = vim.b[real].changedtick
    vim.cmd('silent! diffupdate')
  end
end

---@param step integer
function M.go(step)
  if current then
    show((current.at - 1 + step) % #current.files + 1)
  end
end

--- Why the file may not be changed now, or nil.
local function refusal(file)
  local tick = current.ticks[file.real]
  if not tick then
    return 'has unsaved text of yours: save it with :w or take it back, then open the diff again'
  end
  if vim.b[file.real].changedtick ~= tick then
    if vim.bo[file.real].modified then
      return 'changed since the diff was opened: :w it, then open the diff again'
    end
    current.ticks[file.real] = vim.b[file.real].changedtick
  end
  if not vim.bo[file.real].modifiable or vim.bo[file.real].readonly then
    return 'cannot be modified'
  end
end

local function act_on(file, verb, part)
  if not file.real or not vim.api.nvim_buf_is_loaded(file.real) then
    return 0, 'is not open'
  end
  if not vim.api.nvim_buf_is_loaded(file.other) then
    return 0, 'is not shown as a diff any more: run :Orch diff'
  end
  -- What the file holds is what `verb` wants already.
  if (verb == 'keep') == file.applied then
    return 0
  end
  if verb == 'keep' and file.new == nil then
    return 0, 'is deleted by the change: run :Orch apply'
  end
  local why = refusal(file)
  if why then
    return 0, why
  end
  local target = vim.api.nvim_buf_get_lines(file.other, 0, -1, false)
  local all = hunks.to(file.real, target)
  local chosen = all
  if part == 'hunk' then
    local hunk = hunks.at_cursor(file, all)
    if not hunk then
      return 0, 'has no hunk under the cursor'
    end
    chosen = { hunk }
  end
  local count = hunks.take(file.real, target, chosen)
  current.ticks[file.real] = vim.b[file.real].changedtick
  return count
end

--- `keep` and `discard` of the hunk under the cursor, the file, or all files.
---@param verb 'keep'|'discard'
---@param part 'hunk'|'file'|'all'
function M.act(verb, part)
  if not current or not vim.api.nvim_tabpage_is_valid(current.tab) then
    return say('no diff is open; run :Orch diff', 'warning')
  end
  if vim.api.nvim_get_current_tabpage() ~= current.tab then
    local nr = vim.api.nvim_tabpage_get_number(current.tab)
    return say(('the diff is in another tab; go there with :tabnext %d'):format(nr), 'warning')
  end
  local first, last = current.at, current.at
  if part == 'all' then
    first, last = 1, #current.files
  end
  local count, names = 0, {}
  for at = first, last do
    if part == 'all' then
      show(at)
    end
    local file = current.files[at]
    local done, why = act_on(file, verb, part == 'all' and 'file' or part)
    if why then
      return say(file.path .. ' ' .. why, 'warning')
    end
    count = count + done
    if done > 0 then
      table.insert(names, vim.fs.basename(file.path))
    end
  end
  vim.cmd('silent! diffupdate')
  local word = verb == 'keep' and 'kept' or 'discarded'
  if count == 0 then
    say(('%s: nothing to change in %s'):format(word, current.files[last].path))
  else
    local what = ('%d %s %s in %s'):format(count, count == 1 and 'hunk' or 'hunks', word, table.concat(names, ', '))
    say(what .. '; :w saves it, u takes it back')
  end
  if part == 'file' and count == 0 and #current.files > 1 then
    M.go(1)
  end
end

function M.close()
  local was = current
  current = nil
  if not was then
    return
  end
  for _, file in ipairs(was.files) do
    if file.real and vim.api.nvim_buf_is_valid(file.real) then
      for _, win in ipairs(vim.fn.win_findbuf(file.real)) do
        vim.api.nvim_win_call(win, vim.cmd.diffoff)
      end
    end
  end
  if vim.api.nvim_tabpage_is_valid(was.tab) and #vim.api.nvim_list_tabpages() > 1 then
    -- With the bang nothing is lost: 'nohidden' alone would keep a buffer with changes from being hidden.
    vim.cmd(('tabclose! %d'):format(vim.api.nvim_tabpage_get_number(was.tab)))
  end
  for _, buf in ipairs(was.scratch) do
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
  end
end

---@param diff { root: string, title: string, files: orch.DiffFile[], left: string[], patch?: string }
function M.open(diff)
  M.close()
  if #diff.files == 0 then
    if diff.patch then
      vim.cmd('tab sview ' .. vim.fn.fnameescape(diff.patch))
      vim.bo.filetype = 'diff'
    end
    return say(diff.title .. ': the files moved on since; this is the patch', 'warning')
  end
  vim.cmd('tab split')
  local tab = vim.api.nvim_get_current_tabpage()
  local base = { root = diff.root, title = diff.title, files = diff.files, at = 1, tab = tab, ticks = {}, scratch = {} }
  current = base
  vim.t[tab].orch_diff = diff.title
  show(1)
  if #diff.left > 0 then
    say('not shown: ' .. table.concat(diff.left, ', '), 'warning')
  end
end

--- A command of this Neovim wants something looked at. Its tab opens by itself only while the buffer that the command
--- was given in is as it was: who went on typing there is not interrupted, and what comes of the old text is not taken
--- for an answer to the new one.
function M.offer(diff)
  M.last = diff
  local sent = require('orch.rpc').sent[diff.run]
  require('orch.rpc').sent[diff.run or ''] = nil
  vim.schedule(function()
    -- Before files are read again: that counts as a change, too.
    local buffers = require('orch.buffers')
    local moved = buffers.moved_on(sent)
    buffers.check(diff.root)
    if moved then
      local name = vim.fs.basename(sent.name)
      local tail = '; look at it with :Orch diff'
      return require('orch.ui').notify(
        ('%s: %s has changed since the command was given'):format(diff.title, name),
        'warning',
        { tail = tail, rank = 11 }
      )
    end
    if not require('orch.config').get().open_diff or not require('orch.calm').now() then
      return say(diff.title .. ': look at it with :Orch diff')
    end
    vim.schedule(function()
      require('orch.calm').when(function()
        M.open(diff)
      end)
    end)
  end)
end

--- `:Orch diff [run or run/ID/attempt-N]`: the named change, else what a command offered last, else the newest.
---@param named string
---@param cwd string
function M.show(named, cwd)
  if named == '' and M.last then
    local last = M.last
    M.last = nil
    return M.open(last)
  end
  require('orch.rpc').request('diff', { cwd = cwd, of = named }, function(err, diff)
    if err then
      return require('orch.ui').fault(err)
    end
    require('orch.calm').when(function()
      M.open(diff)
    end)
  end, require('orch.config').get().timeout_ms)
end

return M
