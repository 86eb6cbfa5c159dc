--- What the co-process says by itself, and who takes it; loading waits until it is said. Answers, and that it is ready,
--- are rpc.lua's own.
local M = {
  status = function(payload)
    require('orch.status').set(payload)
  end,
  user = function(payload)
    require('orch.rpc').fire(payload.pattern, payload.data)
  end,
  notify = function(payload)
    require('orch.ui').notify(payload.text, payload.level)
  end,
  ended = function(payload)
    require('orch.rpc').own[payload.run] = nil
    require('orch.ui').ended(payload)
  end,
  ask = function(payload)
    require('orch.ask').take(payload)
  end,
  retract = function(payload)
    require('orch.ask').retract(payload)
  end,
  findings = function(payload)
    require('orch.findings').set(payload)
  end,
  diff = function(payload)
    require('orch.diff').offer(payload)
  end,
  open = function(payload)
    require('orch.buffers').open(payload)
  end,
  changed = function(payload)
    require('orch.buffers').check(payload.root)
  end,
  runs = function(payload)
    require('orch.views').paint_runs(payload)
  end,
  log = function(payload)
    require('orch.views').paint_log(payload)
  end,
}

return M
