--- Options: `vim.g.orch` and `setup(opts)` are equal, the latter wins. Nothing here may throw at start-up.
local M = {}

---@class orch.Config
---@field node? string|string[] Node 22.19 or newer, or a whole command that starts one
---@field attach? boolean follow the runs of the current folder as soon as Neovim is up
---@field open_diff? boolean show the diff of a finished command by itself
---@field quickfix? boolean findings of runs started here go to the quickfix list
---@field diagnostics? boolean findings become diagnostics of the namespace "orch"
---@field progress? boolean progress messages (Neovim 0.12)
---@field notify? 'all'|'decisions'|'none' which messages are shown
---@field restarts? integer crashes a minute after which the co-process is not started again
---@field timeout_ms? integer how long a question to the co-process may take

---@type orch.Config
M.defaults = {
  node = '',
  attach = false,
  open_diff = true,
  quickfix = true,
  diagnostics = true,
  progress = true,
  notify = 'all',
  restarts = 3,
  timeout_ms = 20000,
}

local checks = {
  node = function(v)
    return type(v) == 'string' or (vim.islist(v) and #v > 0), 'a path or a list of words'
  end,
  notify = function(v)
    return v == 'all' or v == 'decisions' or v == 'none', '"all", "decisions" or "none"'
  end,
  restarts = function(v)
    return type(v) == 'number' and v >= 0, 'a number from 0'
  end,
  timeout_ms = function(v)
    return type(v) == 'number' and v > 0, 'a number above 0'
  end,
}

local user = {} ---@type orch.Config

--- What is wrong with the options, a line each.
---@param options table
---@return string[]
function M.faults(options)
  local out = {}
  for key, value in vim.spairs(options) do
    local default = M.defaults[key]
    if default == nil then
      table.insert(out, ('unknown option: %s'):format(key))
    else
      local ok, wanted
      if checks[key] then
        ok, wanted = checks[key](value)
      else
        ok, wanted = type(value) == type(default), 'a ' .. type(default)
      end
      if not ok then
        table.insert(out, ('option %s is to be %s, not %s'):format(key, wanted, vim.inspect(value)))
      end
    end
  end
  return out
end

---@param opts? orch.Config
function M.set(opts)
  user = opts or {}
end

--- What the person asked for, as it is.
---@return table
function M.given()
  local global = type(vim.g.orch) == 'table' and vim.g.orch or {}
  return vim.tbl_extend('force', global, user)
end

--- Defaults, with every valid option of the person's over them.
---@return orch.Config
function M.get()
  local out = vim.deepcopy(M.defaults)
  for key, value in pairs(M.given()) do
    if #M.faults({ [key] = value }) == 0 then
      out[key] = value
    end
  end
  return out
end

return M
