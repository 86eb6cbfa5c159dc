local M = {}

--- Optional: `vim.g.orch = {...}` does the same and loads nothing.
---@param opts? orch.Config
function M.setup(opts)
  local config = require('orch.config')
  if opts ~= nil and type(opts) ~= 'table' then
    return require('orch.ui').notify('setup() takes a table; see :help orch-options', 'error')
  end
  config.set(opts)
  local faults = config.faults(config.given())
  if #faults > 0 then
    require('orch.ui').notify(faults[1] .. '; see :checkhealth orch', 'warning')
  end
  if config.get().attach and vim.v.vim_did_enter == 1 then
    M.attach()
  end
end

--- Starts the co-process and follows the runs of the current folder.
function M.attach()
  require('orch.rpc').request('attach', { cwd = vim.fn.getcwd() }, function(err)
    if err then
      require('orch.ui').fault(err)
    end
  end)
end

--- Statusline component: what runs or waits, empty when nothing does.
---@return string
function M.status()
  local status = package.loaded['orch.status']
  return status and status.get() or ''
end

return M
