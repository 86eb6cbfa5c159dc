--- What runs now, as the co-process said last. Reading it costs nothing: no file, no RPC.
local M = {}

local states = {} ---@type table<string, { text: string, tone: string, waiting: integer, active: table[] }>
local latest = '' ---@type string

local groups = { idle = 'Comment', busy = 'DiagnosticInfo', attention = 'DiagnosticWarn' }

local function first()
  local state = states[latest]
  if state and state.text ~= '' then
    return state
  end
  for _, other in vim.spairs(states) do
    if other.text ~= '' then
      return other
    end
  end
end

--- Text for a statusline (percent signs doubled, as `%{%...%}` wants them; `g:orch_status` has them single) and the
--- highlight group that fits it.
---@return string text empty when nothing runs or waits
---@return string highlight
function M.get()
  local state = first()
  if not state then
    return '', groups.idle
  end
  return (state.text:gsub('%%', '%%%%')), groups[state.tone] or groups.idle
end

--- How many questions wait for an answer in the repositories of this Neovim.
---@return integer
function M.waiting()
  local sum = 0
  for _, state in pairs(states) do
    sum = sum + state.waiting
  end
  return sum
end

---@param payload { root: string, text: string, tone: string, waiting: integer, active: table[] }
function M.set(payload)
  local before = states[payload.root]
  states[payload.root] = payload
  latest = payload.root
  local now = first()
  vim.g.orch_status = now and now.text or ''
  require('orch.ui').progress(payload.active, before and before.active or {})
  require('orch.rpc').fire(
    'OrchRunUpdated',
    { root = payload.root, text = payload.text, waiting = payload.waiting, active = payload.active }
  )
  vim.cmd.redrawstatus({ bang = true })
end

--- The co-process is gone: nothing is known any more.
function M.clear()
  states = {}
  vim.g.orch_status = ''
  vim.cmd.redrawstatus({ bang = true })
end

return M
