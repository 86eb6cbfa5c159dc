--- The person's own buffers. A modified one is never read from disk, never written and never changed here.
local M = {}

---@param path string
---@return string
function M.real(path)
  return vim.uv.fs_realpath(path) or vim.fs.normalize(path)
end

--- The nearest folder upwards that holds `.git`, a file in linked worktrees; links resolved, as the co-process has it.
---@param folder string
---@return string?
function M.root(folder)
  local at = M.real(folder)
  while at ~= '' do
    if vim.uv.fs_stat(vim.fs.joinpath(at, '.git')) then
      return at
    end
    local up = vim.fs.dirname(at)
    if not up or up == at or up == '.' then
      return nil
    end
    at = up
  end
end

---@param path string
---@param root string
---@return string? below the root, or nil when it is not in it
function M.below(path, root)
  local at, top = M.real(path), M.real(root)
  if at == top then
    return ''
  end
  return vim.startswith(at, top .. '/') and at:sub(#top + 2) or nil
end

local function files()
  return vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= ''
  end, vim.api.nvim_list_bufs())
end

local ends = { dos = '\r\n', mac = '\r' }

--- True when the buffer that a run was started with has been changed since.
---@param sent? { buf: integer, tick: integer }
---@return boolean
function M.moved_on(sent)
  return sent ~= nil and vim.api.nvim_buf_is_loaded(sent.buf) and vim.b[sent.buf].changedtick ~= sent.tick
end

--- The buffer a command is given in: its text only when that is not what the file holds, its lines only with a range.
---@param o { range: integer, line1: integer, line2: integer }
---@return table?
function M.active(o)
  local buf = vim.api.nvim_get_current_buf()
  local name = vim.api.nvim_buf_get_name(buf)
  if vim.bo[buf].buftype ~= '' or name == '' then
    return nil
  end
  local out = { path = M.real(name), changed = vim.bo[buf].modified, tick = vim.b[buf].changedtick, buf = buf }
  if out.changed then
    local sep = ends[vim.bo[buf].fileformat] or '\n'
    local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), sep)
    out.text = vim.bo[buf].endofline and text .. sep or text
  end
  if o.range > 0 then
    out.first, out.last = math.max(1, o.line1), math.max(1, o.line2)
  end
  return out
end

--- Commands that go to another commit, or rewrite files that were there before: any unsaved file of the repository is
--- in the way. `do` and `new` only meet what belongs to slices.
local whole = { merge = true, undo = true, delete = true, move = true, restore = true, apply = true, final = true }
local slices = { ['do'] = true, new = true }

local function is_of_slices(at, dirs)
  for _, dir in ipairs(dirs) do
    if vim.startswith(at, dir .. '/') then
      return true
    end
  end
  return vim.fs.basename(at) == '.features.json' or vim.startswith(at, '.orch/')
end

--- Unsaved files that a command would meet, relative to the repository.
---@param root string
---@param name string
---@return string[]
function M.in_the_way(root, name)
  if not whole[name] and not slices[name] then
    return {}
  end
  local dirs = require('orch.names').slice_folders(root)
  local out = {}
  for _, buf in ipairs(files()) do
    local at = vim.bo[buf].modified and M.below(vim.api.nvim_buf_get_name(buf), root)
    if at and (whole[name] or is_of_slices(at, dirs)) then
      table.insert(out, at)
    end
  end
  return out
end

local told = {} ---@type table<integer, integer>

--- Notes what the files hold before a command, so that a change under unsaved text can be told.
function M.remember()
  for _, buf in ipairs(files()) do
    local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(buf))
    vim.b[buf].orch_mtime = stat and stat.mtime.sec * 1000 + math.floor(stat.mtime.nsec / 1e6) or nil
  end
end

local function read_again(buf)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent! checktime ' .. buf)
  end)
end

local later = {} ---@type table<string, boolean> repositories to look at again when it is calm

--- Files of the repository changed on disk: buffers without unsaved text read them again. The one that the person types
--- in waits for normal mode; when they have typed something by then, it is left alone.
---@param root string
function M.check(root)
  vim.schedule(function()
    local typing = vim.api.nvim_get_mode().mode:match('^[iRvVsS\22]') and vim.api.nvim_get_current_buf()
    for _, buf in ipairs(files()) do
      local name = vim.api.nvim_buf_get_name(buf)
      local stat = M.below(name, root) and vim.uv.fs_stat(name)
      if stat and not vim.bo[buf].modified and vim.bo[buf].autoread ~= false and vim.o.autoread then
        if buf ~= typing then
          read_again(buf)
        elseif not later[root] then
          later[root] = true
          require('orch.calm').when(function()
            later[root] = nil
            M.check(root)
          end)
        end
      elseif stat and vim.bo[buf].modified then
        M.tell_newer(buf, name, stat)
      end
    end
  end)
end

--- Once for each change on disk under unsaved text.
function M.tell_newer(buf, name, stat)
  local at, now = vim.b[buf].orch_mtime, stat.mtime.sec * 1000 + math.floor(stat.mtime.nsec / 1e6)
  if at and now > at and told[buf] ~= now then
    told[buf] = now
    local short = vim.fn.fnamemodify(name, ':t')
    require('orch.ui').notify(short .. ' changed on disk; your unsaved text is kept', 'warning')
  end
end

---@param payload { file: string, line: integer }
function M.open(payload)
  require('orch.calm').when(function()
    local ok, err = pcall(vim.cmd.drop, vim.fn.fnameescape(payload.file))
    if not ok then
      require('orch.rpc').note(('%s: %s'):format(payload.file, err))
      return require('orch.ui').notify('look at ' .. vim.fn.fnamemodify(payload.file, ':.'))
    end
    if payload.line > 0 then
      local last = vim.api.nvim_buf_line_count(0)
      vim.api.nvim_win_set_cursor(0, { math.min(payload.line, last), 0 })
    end
  end)
end

return M
