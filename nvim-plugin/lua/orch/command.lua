--- `:Orch {subcommand}`: what the table of commands holds goes to the co-process as it was typed; the few subcommands
--- of this editor alone are here.
local M = {}

local function fault(message, hint)
  require('orch.ui').fault({ message = message, hint = hint })
end

--- Subcommands that only make sense here. A table's command of the same name loses.
---@type table<string, { summary: string, choices?: string[], completes?: string|string[], run: fun(args: string, o: table) }>
M.own = {
  runs = {
    summary = 'The runs of this repository in a buffer that follows them',
    run = function(_, o)
      require('orch.views').runs(o.cwd)
    end,
  },
  log = {
    summary = 'The log of a run as it grows (the newest), or of the co-process: host',
    choices = { 'host' },
    completes = 'run',
    run = function(args, o)
      require('orch.views').log(vim.trim(args), o.cwd)
    end,
  },
  qf = {
    summary = 'Open the newest list of findings',
    run = function()
      require('orch.findings').open()
    end,
  },
  diff = {
    summary = 'The last change (or the named one) in a tab of diff windows',
    completes = { 'run', 'attempt' },
    run = function(args, o)
      require('orch.diff').show(vim.trim(args), o.cwd)
    end,
  },
  keep = {
    summary = 'In a diff: take the new text of the hunk, the file or all',
    choices = { 'all', 'file', 'hunk' },
    run = function(args)
      M.part('keep', args)
    end,
  },
  discard = {
    summary = 'In a diff: take the old text of the hunk, the file or all',
    choices = { 'all', 'file', 'hunk' },
    run = function(args)
      M.part('discard', args)
    end,
  },
  help = {
    summary = 'The help of a subcommand',
    completes = 'command',
    run = function(args)
      M.help(vim.trim(args))
    end,
  },
  restart = {
    summary = 'End the co-process; it starts again with the next command, runs go on',
    run = function()
      require('orch.rpc').stop()
      require('orch.ui').notify('the co-process starts again with the next command')
    end,
  },
}

--- The manual's page of a subcommand, by its tag.
---@param name string
function M.help(name)
  local tag = name == '' and 'orch.txt' or ':Orch-' .. name
  local ok, err = pcall(vim.cmd.help, tag)
  if not ok then
    local hint = 'Try :help orch.txt; by hand the tags are made with :helptags ALL'
    fault(('no help for %s (%s)'):format(tag, tostring(err):match('E%d+') or 'no tag'), hint)
  end
end

function M.part(verb, args)
  local part = vim.trim(args)
  part = part == '' and 'hunk' or part
  if not vim.tbl_contains({ 'hunk', 'file', 'all' }, part) then
    return fault(('%s takes hunk, file or all'):format(verb))
  end
  require('orch.diff').act(verb, part)
end

--- A choice of this host's own.
local function pick(items, options, act)
  require('orch.calm').when(function()
    vim.ui.select(items, vim.tbl_extend('keep', { kind = 'orch' }, options), function(choice)
      if choice then
        act(choice)
      end
    end)
  end)
end

--- The result of a command, by what it is. What opens a window or a picker waits for a calm moment.
local answers = {
  -- Its events tell the rest.
  started = function(result, o)
    local rpc = require('orch.rpc')
    rpc.own[result.run] = o.cwd
    rpc.sent[result.run] = o.buffer and { buf = o.buffer.buf, tick = o.buffer.tick, name = o.buffer.path } or nil
  end,
  document = function(result, o)
    local ui = require('orch.ui')
    if result.findings then
      require('orch.findings').set({ root = o.root, title = 'orch ' .. result.command, items = result.items })
      require('orch.buffers').check(o.root)
    end
    if result.error then
      return ui.fault(result.error)
    end
    if #result.lines > 0 then
      require('orch.calm').when(function()
        -- Who has gone on working keeps the cursor where it is.
        local enter = require('orch.calm').still(o.spot)
        require('orch.views').text('orch://' .. result.command, result.lines, enter)
      end)
    end
    local tail = ''
    if result.findings and #result.items > 0 then
      tail = '. Next: :Orch qf'
    elseif result.next[1] then
      tail = '. Next: ' .. ui.typed(result.next[1])
    end
    ui.notify((result.summary:gsub('[.]$', '')), result.ok and 'info' or 'warning', { tail = tail })
  end,
  terminal = function(result)
    require('orch.calm').when(function()
      require('orch.views').terminal(result.argv)
    end)
  end,
  asks = function(_, o)
    require('orch.ask').all(o.cwd)
  end,
  choose = function(result, o)
    pick(result.choices, {
      prompt = 'Which run?',
      format_item = function(choice)
        return choice.label .. '  ' .. choice.id
      end,
    }, function(choice)
      M.send(o.name, choice.id, o)
    end)
  end,
  trust = function(result, o)
    local choices = { 'Trust it', 'Not now' }
    pick(choices, { prompt = ('Trust %s? %s'):format(result.root, result.words) }, function(choice)
      if choice == choices[1] then
        M.send('trust', '--hash ' .. result.hash, o)
      end
    end)
  end,
}

--- Sends a command of the table, as typed.
---@param name string
---@param args string
---@param o { cwd: string, root: string, bang?: boolean, buffer?: table, name?: string, spot: table }
function M.send(name, args, o)
  local spec = require('orch.table').commands[name]
  local params = { name = name, args = args, bang = o.bang or false, cwd = o.cwd, buffer = o.buffer }
  require('orch.rpc').request('command', params, function(err, result)
    if err then
      return require('orch.ui').fault(err)
    end
    local told = vim.tbl_extend('force', o, { name = name })
    vim.schedule(function()
      local ok, why = xpcall(answers[result.kind], debug.traceback, result, told)
      if not ok then
        require('orch.rpc').fault(name, why)
      end
    end)
    -- What a short process may take is the person's to say: `:Orch cancel` ends it.
    -- A runner that does not start says so itself after 20 s.
  end, spec.kind == 'run' and math.max(30000, require('orch.config').get().timeout_ms) or nil)
end

--- Commands that are nothing without words: they are asked for, as the palette does.
local wants_words = { new = true, modify = true }

local function quoted(words)
  return '"' .. words:gsub('(["\'\\])', '\\%1') .. '"'
end

local function ask_for(spec, argument, go)
  require('orch.calm').when(function()
    vim.ui.input({
      prompt = ('%s (%s): '):format(argument.summary, argument.name),
      completion = require('orch.complete').offering(spec, argument),
    }, function(said)
      if said and vim.trim(said) ~= '' then
        go(vim.trim(said))
      elseif not argument.required and said then
        go(nil)
      end
    end)
  end)
end

--- Asks for the required arguments that were left out, one by one. A question's id is not asked for: `reply` alone shows
--- what waits.
local function gather(name, args, go)
  local spec = require('orch.table').commands[name]
  local seen = require('orch.complete').read(spec, args)
  local count = #seen.words
  local missing = spec.args[count + 1]
  if seen.options.help then
    return M.help(name)
  end
  if missing and missing.required and missing.completes ~= 'decision' then
    return ask_for(spec, missing, function(said)
      local more = vim.trim(args .. ' ' .. said)
      if missing.many then
        return go(more)
      end
      gather(name, more, go)
    end)
  end
  local words = spec.args[#spec.args]
  if wants_words[name] and not seen.options.prompt and count < #spec.args and not (seen.words[1] or ''):find('%s') then
    return ask_for(spec, words, function(said)
      go(said and vim.trim(args .. ' --prompt ' .. quoted(said)) or args)
    end)
  end
  go(args)
end

---@param o { args: string, bang: boolean, range: integer, line1: integer, line2: integer }
function M.run(o)
  local name, args = vim.trim(o.args):match('^(%S*)%s*(.*)$')
  M.start(name, vim.tbl_extend('force', o, { rest = args }))
end

---@param name string
---@param o table
function M.start(name, o)
  local args = o.rest
  if not args then
    name, args = name:match('^(%S*)%s*(.*)$')
  end
  local cwd = o.cwd or vim.fn.getcwd()
  if cwd == '' then
    return fault('the current folder is gone', 'Go to another one with :cd')
  end
  if vim.fn.getcmdwintype() ~= '' then
    return fault('not from the command-line window', 'Close it with :q, then run it again')
  end
  if M.own[name] then
    return M.own[name].run(args, { cwd = cwd })
  end
  local spec = require('orch.table').commands[name]
  if not spec then
    local hint = 'They are: ' .. table.concat(require('orch.complete').subcommands(''), ' ')
    return fault(name == '' and 'Which command' or ('There is no command ' .. name), hint)
  end
  local buffers = require('orch.buffers')
  local root = buffers.root(cwd) or buffers.real(cwd)
  local unsaved = spec.kind == 'run' and buffers.in_the_way(root, name) or {}
  if #unsaved > 0 then
    local what = ('%d unsaved %s in the way: %s'):format(
      #unsaved,
      #unsaved == 1 and 'file is' or 'files are',
      table.concat(unsaved, ', ')
    )
    return fault(what, 'Save with :wa, then run it again')
  end
  buffers.remember()
  local told = { cwd = cwd, root = root, bang = o.bang, spot = require('orch.calm').spot() }
  -- As it is now, before anything is asked: the range means these lines.
  told.buffer = o.range and buffers.active(o) or nil
  gather(name, args, function(all)
    M.send(name, all, told)
  end)
end

return M
