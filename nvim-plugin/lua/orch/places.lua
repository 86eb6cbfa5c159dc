--- Folders of the account, as the co-process finds them (shared/adapters/machine.ts).
local M = {}

local function folder(variable, ...)
  local home = vim.env[variable]
  if not home or not vim.startswith(home, '/') then
    home = vim.fs.joinpath(vim.uv.os_homedir() or '', ...)
  end
  return vim.fs.joinpath(home, 'orch')
end

function M.config_dir()
  return folder('XDG_CONFIG_HOME', '.config')
end

function M.cache_dir()
  return folder('XDG_CACHE_HOME', '.cache')
end

function M.state_dir()
  return folder('XDG_STATE_HOME', '.local', 'state')
end

return M
