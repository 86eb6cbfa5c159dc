--- Which Node starts the co-process: the configured one, $ORCH_NODE, one that Orch's own set-up left in the cache, PATH.
--- The version is asked by the co-process itself, so that nothing is spawned to choose; one that is too old ends with 9.
local M = {}

M.floor = '22.19'

local rejected = {} ---@type table<string, boolean>

local function cached()
  local home = vim.env.XDG_CACHE_HOME
  if not home or home == '' then
    home = vim.fs.joinpath(vim.uv.os_homedir() or '', '.cache')
  end
  local found = {}
  for _, folder in ipairs({ 'orch', 'orch-build' }) do
    for name, kind in vim.fs.dir(vim.fs.joinpath(home, folder)) do
      local digits = kind == 'directory' and name:match('^node%-(%d[%d.]*)$')
      local version = digits and vim.version.parse(digits)
      if version and vim.version.ge(version, { 22, 19, 0 }) then
        local program = vim.fs.joinpath(home, folder, name, 'bin', 'node')
        if vim.uv.fs_stat(program) then
          table.insert(found, { version = version, program = program })
        end
      end
    end
  end
  table.sort(found, function(a, b)
    return vim.version.gt(a.version, b.version)
  end)
  return vim.tbl_map(function(one)
    return one.program
  end, found)
end

--- The words that start Node, or nil and why there are none.
---@return string[]?
---@return string?
function M.command()
  local configured = require('orch.config').get().node
  if type(configured) == 'table' then
    return configured
  end
  if configured ~= '' then
    if vim.fn.executable(configured) == 0 then
      return nil, ('%s is not executable: set vim.g.orch = { node = "/path/to/node" }'):format(configured)
    end
    return { configured }
  end
  local candidates = {}
  if vim.env.ORCH_NODE and vim.env.ORCH_NODE ~= '' then
    table.insert(candidates, vim.env.ORCH_NODE)
  end
  vim.list_extend(candidates, cached())
  local path = vim.fn.exepath('node')
  if path ~= '' then
    table.insert(candidates, path)
  end
  for _, program in ipairs(candidates) do
    if not rejected[program] and vim.fn.executable(program) == 1 then
      return { program }
    end
  end
  local why = #candidates == 0 and 'node is not on PATH' or 'every node here is too old'
  return nil, ('%s: Orch needs Node %s or newer; set vim.g.orch = { node = "/path/to/node" }'):format(why, M.floor)
end

--- It said that it is too old. True when another one may be tried.
---@param command string[]
---@return boolean
function M.reject(command)
  rejected[command[1]] = true
  return require('orch.config').get().node == '' and M.command() ~= nil
end

function M.forget()
  rejected = {}
end

return M
