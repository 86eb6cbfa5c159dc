--- Owns the co-process: starts it on first use, queues until it is ready, starts it again after a crash. `request` is
--- the only way in and `recv` the only way out. Nothing here ever waits for Node but the last second of Neovim's life. Long
--- because the life of one process is one state: starting, queueing, ending and crashing share all of it.
local M = {}

local uv = vim.uv
-- Absolute from the start: 'runtimepath' may name it relative to a folder that :cd leaves.
local source = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p')
local here = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(source)))

local state = 'stopped' ---@type 'stopped'|'starting'|'ready'|'failed'
local channel ---@type integer?
local command ---@type string[]?
local ready_info ---@type { pid: integer, node: string }?
local leaving = false
local seq = 0
local pending = {} ---@type table<integer, { method: string, done: fun(err: table?, result: any) }>
local queue = {} ---@type table[]
local crashes = {} ---@type integer[]

--- Runs that were started here and have not ended, by id, with the folder they were started in: a co-process that is
--- started again takes them up as ours.
M.own = {} ---@type table<string, string>

--- The buffer that a run of ours was started with, as it was then, by run.
M.sent = {} ---@type table<string, { buf: integer, tick: integer, name: string }>

--- The last lines that the co-process wrote to stderr, and what became of it.
M.lines = {} ---@type string[]

---@param line string
function M.note(line)
  table.insert(M.lines, (line:sub(1, 500)))
  while #M.lines > 500 do
    table.remove(M.lines, 1)
  end
end

--- The bundle: in a release beside lua/, in a checkout of the repository above it.
---@return string?
function M.bundle()
  for _, root in ipairs({ here, vim.fs.dirname(vim.fn.resolve(here)) }) do
    local at = vim.fs.joinpath(root, 'dist', 'nvim', 'main.cjs')
    if uv.fs_stat(at) then
      return at
    end
  end
end

local function fail_pending(message)
  local failed = pending
  pending, queue = {}, {}
  for _, one in pairs(failed) do
    one.done({ message = message })
  end
end

local start

local function on_exit(code)
  local was, cmd = state, command
  channel, state, ready_info = nil, 'stopped', nil
  if leaving then
    return
  end
  if code == 9 and was == 'starting' and cmd then
    if require('orch.node').reject(cmd) then
      local waiting = queue
      local err = start()
      if not err then
        queue = waiting
        return
      end
    end
    state = 'failed'
    return fail_pending(M.lines[#M.lines] or 'Node is too old')
  end
  -- It ends by itself only when its channel closes: Neovim does that when something else writes into it.
  local what = code == 0 and 'the channel to the co-process broke' or ('the co-process ended with code %d'):format(code)
  M.note(what)
  fail_pending(what)
  require('orch.status').clear()
  require('orch.ui').lost()
  local now = uv.now()
  crashes = vim.tbl_filter(function(at)
    return now - at < 60000
  end, crashes)
  table.insert(crashes, now)
  local again = 'it starts again with the next command'
  if was == 'starting' or #crashes > require('orch.config').get().restarts then
    state = 'failed'
    again = 'see :Orch log host, then :Orch restart'
  end
  require('orch.ui').notify(('%s; %s'):format(what, again), 'error', { rank = 10 })
end

--- Ends a job without waiting for it: Neovim kills what does not go.
local function put_down(job)
  pcall(vim.rpcnotify, job, 'orch', { method = 'shutdown' })
  vim.defer_fn(function()
    pcall(vim.fn.jobstop, job)
  end, 1000)
end

--- A program that is no Node, or one that hangs, never says that it is ready.
local function expect_ready(job)
  local within = require('orch.config').get().timeout_ms
  vim.defer_fn(function()
    if channel ~= job or state ~= 'starting' then
      return
    end
    channel, state = nil, 'failed'
    put_down(job)
    local what = ('the co-process was not ready within %d ms'):format(within)
    M.note(what)
    fail_pending(what .. '; see :Orch log host, then :Orch restart')
  end, within)
end

---@return string? error
start = function()
  local bundle = M.bundle()
  if not bundle then
    return 'not built: install the release branch, or run npm run build'
  end
  local words, why = require('orch.node').command()
  if not words then
    return why
  end
  -- jobstart() throws, rather than returning -1, when a program cannot be executed.
  local argv = vim.list_extend(vim.deepcopy(words), { '--disable-warning=ExperimentalWarning', bundle })
  local home = uv.os_homedir()
  local ok, job = pcall(vim.fn.jobstart, argv, {
    rpc = true,
    cwd = home and vim.fn.isdirectory(home) == 1 and home or nil,
    env = {
      NODE_OPTIONS = '',
      NODE_COMPILE_CACHE = vim.fs.joinpath(vim.fn.stdpath('cache') --[[@as string]], 'orch', 'compiled'),
    },
    on_stderr = function(_, data)
      for _, line in ipairs(data) do
        if line ~= '' then
          M.note(line)
        end
      end
    end,
    on_exit = function(ended, code)
      -- One that was stopped on purpose has nothing to say any more.
      if ended == channel then
        on_exit(code)
      end
    end,
  })
  if not ok then
    return ('%s cannot be started: %s'):format(words[1], tostring(job):gsub('^Vim:', ''))
  end
  channel, command, state = job, words, 'starting'
  expect_ready(job)
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = vim.api.nvim_create_augroup('orch.rpc', {}),
    callback = function()
      leaving = true
      if channel then
        -- Without it Neovim ends the whole process group at once. Runs are groups of their own and live on.
        pcall(vim.rpcnotify, channel, 'orch', { method = 'shutdown' })
        vim.fn.jobwait({ channel }, 1000)
      end
    end,
  })
end

local function post(message)
  if state == 'failed' then
    return 'the co-process is down: see :Orch log host, then :Orch restart'
  end
  if state == 'stopped' then
    local err = start()
    if err then
      return err
    end
  end
  if state ~= 'ready' then
    table.insert(queue, message)
  elseif not pcall(vim.rpcnotify, channel, 'orch', message) then
    -- The channel closes a moment before on_exit is called.
    return 'the co-process has just ended: run the command again'
  end
end

--- `done` is called once, later or at once, in whatever mode and window Neovim is in then.
---@param method string
---@param params table
---@param done fun(err: { message: string, hint?: string, code?: string }?, result: any)
---@param timeout_ms? integer none for what a person waits for by choice
---@return integer id for `cancel`
function M.request(method, params, done, timeout_ms)
  seq = seq + 1
  local id = seq
  pending[id] = { method = method, done = done }
  local err = post({ id = id, method = method, params = params })
  if err then
    pending[id] = nil
    M.note(err)
    done({ message = err })
  elseif timeout_ms then
    vim.defer_fn(function()
      if pending[id] then
        pending[id] = nil
        done({ message = ('no answer to %s within %d ms; see :Orch log host'):format(method, timeout_ms) })
      end
    end, timeout_ms)
  end
  return id
end

--- Says something without wanting an answer; nothing is started for it.
function M.tell(method, params)
  if state == 'ready' then
    pcall(vim.rpcnotify, channel, 'orch', { method = method, params = params })
  end
end

local events = {
  ready = function(info)
    state, ready_info = 'ready', info
    local waiting = queue
    queue = {}
    for _, message in ipairs(waiting) do
      pcall(vim.rpcnotify, channel, 'orch', message)
    end
    local folders = {}
    for run, cwd in pairs(M.own) do
      folders[cwd] = folders[cwd] or {}
      table.insert(folders[cwd], run)
    end
    for cwd, runs in pairs(folders) do
      M.tell('attach', { cwd = cwd, own = runs })
    end
    if package.loaded['orch.views'] then
      require('orch.views').again()
    end
  end,
  reply = function(reply)
    local one = pending[reply.id]
    pending[reply.id] = nil
    if one then
      one.done(reply.error, reply.result)
    end
  end,
}

--- A mistake of the plugin itself: noted whole, told in a line, never thrown into the person's typing.
---@param what string
---@param err string
function M.fault(what, err)
  M.note(('%s: %s'):format(what, err))
  vim.schedule(function()
    require('orch.ui').notify(('a fault of its own in %s; see :Orch log host'):format(what), 'error')
  end)
end

--- Tells the person's autocommands. Neovim shows a mistake in one of them itself, and it stops nothing here.
---@param pattern string
---@param data table
function M.fire(pattern, data)
  local ok, err = pcall(vim.api.nvim_exec_autocmds, 'User', { pattern = pattern, modeline = false, data = data })
  if not ok then
    M.note(('an autocommand for %s failed: %s'):format(pattern, err))
  end
end

--- Called from Node.
function M.recv(event, payload)
  local handle = events[event] or require('orch.inbound')[event]
  if not handle then
    return M.note('unknown event ' .. tostring(event))
  end
  local ok, err = xpcall(handle, debug.traceback, payload)
  if not ok then
    M.fault(event, err)
  end
end

--- Ends the co-process; runs go on. It starts again with the next command.
function M.stop()
  local job = channel
  channel, state, ready_info, crashes = nil, 'stopped', nil, {}
  if job then
    put_down(job)
  end
  require('orch.node').forget()
  fail_pending('the co-process was stopped')
  require('orch.status').clear()
end

function M.info()
  return {
    state = state,
    pid = ready_info and ready_info.pid,
    node = ready_info and ready_info.node,
    command = command,
    bundle = M.bundle(),
    pending = vim.tbl_count(pending),
  }
end

return M
