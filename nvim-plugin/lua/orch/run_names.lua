--- What the folders of runs tell by name: runs, their attempts, open decisions, contracts. The newest come first, and only
--- they are looked into.
local M = {}

local files = require('orch.small_files')

local max_looks = 30

--- Run folders, the newest first: in the repository, and in the account's state for one that cannot be written.
---@return { run: string, dir: string }[]
function M.runs(root)
  local found = {}
  local state = require('orch.places').state_dir()
  local folders = { vim.fs.joinpath(root, '.orch', 'runs') }
  -- The co-process alone makes the name of that folder; what is before its last dash is the repository's.
  local base = vim.fs.basename(root):gsub('[^%w_-]', '_'):sub(1, 40)
  for _, name in ipairs(files.entries(vim.fs.joinpath(state, 'repos'), 'directory', '^' .. vim.pesc(base) .. '%-%w+$')) do
    local at = vim.fs.joinpath(state, 'repos', name, 'runs')
    for _, run in ipairs(files.entries(at, 'directory', '^r%-.+$')) do
      local request = files.json(vim.fs.joinpath(at, run, 'request.json')) or {}
      local cwd = type(request.cwd) == 'string' and request.cwd or ''
      if cwd == root or vim.startswith(cwd, root .. '/') then
        table.insert(found, { run = run, dir = vim.fs.joinpath(at, run) })
      end
    end
  end
  for _, folder in ipairs(folders) do
    for _, run in ipairs(files.entries(folder, 'directory', '^r%-%d+%-%d+%-%w+$')) do
      table.insert(found, { run = run, dir = vim.fs.joinpath(folder, run) })
    end
  end
  table.sort(found, function(a, b)
    return a.run > b.run
  end)
  return vim.list_slice(found, 1, files.most)
end

local function newest(root)
  return vim.list_slice(M.runs(root), 1, max_looks)
end

---@return string[]
function M.attempts(root)
  local out = {}
  for _, one in ipairs(newest(root)) do
    for _, id in ipairs(files.entries(one.dir, 'directory', '^.+$')) do
      for _, name in ipairs(files.entries(vim.fs.joinpath(one.dir, id), 'directory', '^attempt%-%d+$')) do
        table.insert(out, ('%s/%s/%s'):format(one.run, id, name))
      end
    end
  end
  return out
end

--- Asked and not answered.
---@return string[]
function M.decisions(root)
  local out = {}
  for _, one in ipairs(newest(root)) do
    local open = {}
    for line in (files.text(vim.fs.joinpath(one.dir, 'events.jsonl')) or ''):gmatch('[^\n]+') do
      local what = line:match('"type":"%a+%.(%a+)"')
      if what == 'asked' or what == 'answered' then
        local ok, event = pcall(vim.json.decode, line)
        if ok and type(event) == 'table' and type(event.id) == 'string' then
          open[event.id] = what == 'asked' or nil
        end
      elseif line:find('"type":"command.finished"', 1, true) or line:find('"type":"run.cancelled"', 1, true) then
        open = {}
      end
    end
    vim.list_extend(out, vim.tbl_keys(open))
  end
  return out
end

--- Contracts that are written here, then those that only runs know, the newest first.
---@return string[]
function M.contracts(root)
  local out = files.entries(vim.fs.joinpath(root, '.orch', 'contracts'), 'file', '^(.+)%.json$')
  for _, one in ipairs(newest(root)) do
    for _, id in ipairs(files.entries(one.dir, 'directory', '^.+$')) do
      if #files.entries(vim.fs.joinpath(one.dir, id), 'directory', '^attempt%-%d+$') > 0 then
        table.insert(out, id)
      end
    end
  end
  return out
end

return M
