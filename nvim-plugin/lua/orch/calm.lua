--- Moments at which something may open: normal mode with nothing pending, no command-line window. What opens under
--- somebody's fingers at any other time would take their typing for its own.
local M = {}

local waiting = {} ---@type (fun())[]
local armed = false

--- True when a window or a picker may open now.
---@return boolean
function M.now()
  local mode = vim.api.nvim_get_mode()
  local normal = mode.mode == 'n' or mode.mode == 'nt'
  return normal and not mode.blocking and vim.fn.getcmdwintype() == '' and vim.fn.reg_executing() == ''
end

local function arm()
  if armed then
    return
  end
  armed = true
  -- Asked again and again rather than told by ModeChanged: 'eventignore' may be set, and no event tells that a macro or
  -- a hit-enter prompt is over.
  vim.defer_fn(function()
    armed = false
    while #waiting > 0 and M.now() do
      local act = table.remove(waiting, 1)
      local ok, err = xpcall(act, debug.traceback)
      if not ok then
        require('orch.rpc').fault('opening', err)
      end
    end
    if #waiting > 0 then
      arm()
    end
  end, 100)
end

--- Now, or as soon as it is calm; in the order of the calls.
---@param act fun()
function M.when(act)
  if #waiting == 0 and M.now() then
    return act()
  end
  table.insert(waiting, act)
  arm()
end

--- Where the person is. `still` tells later whether they have waited there.
---@return { win: integer, cursor: integer[], tick: integer }
function M.spot()
  local win = vim.api.nvim_get_current_win()
  return { win = win, cursor = vim.api.nvim_win_get_cursor(win), tick = vim.b.changedtick }
end

---@param spot { win: integer, cursor: integer[], tick: integer }
---@return boolean
function M.still(spot)
  return vim.deep_equal(M.spot(), spot)
end

return M
