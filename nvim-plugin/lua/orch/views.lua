--- Buffers of ours: `orch-runs`, `orch-log` and `orch-text`. Lines come from the co-process, at most every 50 ms, and
--- only while a window shows them.
local M = {}

local pane = require('orch.pane')
local namespace = vim.api.nvim_create_namespace('orch.views')

--- What our buffers show, by buffer: the runs of a repository, or the log of a run.
---@type table<integer, { kind: 'runs'|'log', cwd: string, root: string, run?: string, rows?: table[], lines?: string[] }>
local boards = {}

local groups = {
  idle = 'Comment',
  busy = 'DiagnosticInfo',
  good = 'DiagnosticOk',
  bad = 'DiagnosticError',
  attention = 'DiagnosticWarn',
}

-- runs ----------------------------------------------------------------------------------------------------------------

local function on_row(act)
  return function()
    local board = boards[vim.api.nvim_get_current_buf()]
    local row = board and board.rows and board.rows[vim.api.nvim_win_get_cursor(0)[1]]
    if board and row then
      act(row, board)
    end
  end
end

local function command(text)
  return function(row, board)
    require('orch.command').start(text:format(row.run), { cwd = board.cwd })
  end
end

local runs_help = {
  '<CR>   the log of the run      <Tab>  fold or unfold it',
  'd      its change as a diff    a      answer what it asks',
  'x      cancel it               r      resume it',
  'q      close                   g?     this help',
}

local runs_keys = {
  ['<CR>'] = on_row(function(row, board)
    M.log(row.run, board.cwd)
  end),
  ['<Tab>'] = on_row(function(row, board)
    require('orch.rpc').tell('fold', { cwd = board.cwd, run = row.run })
  end),
  d = on_row(function(row, board)
    require('orch.diff').show(row.kind == 'attempt' and row.node or row.run, board.cwd)
  end),
  a = on_row(function(_, board)
    require('orch.ask').all(board.cwd)
  end),
  x = on_row(command('cancel %s')),
  r = on_row(command('resume %s')),
}

local function watch_runs(cwd)
  require('orch.rpc').request('runs', { cwd = cwd, on = true }, function(err)
    if err then
      require('orch.ui').fault(err)
    end
  end, require('orch.config').get().timeout_ms)
end

--- The repository of a folder, or the folder itself.
local function place(cwd)
  local buffers = require('orch.buffers')
  return buffers.root(cwd) or buffers.real(cwd)
end

---@param cwd string
function M.runs(cwd)
  local root = place(cwd)
  local buf = pane.open('orch://runs' .. root, 'orch-runs', runs_keys, runs_help, function(gone)
    boards[gone] = nil
    require('orch.rpc').tell('runs', { cwd = cwd, on = false })
  end)
  if buf then
    boards[buf] = boards[buf] or { kind = 'runs', cwd = cwd, root = root, rows = {} }
    watch_runs(cwd)
  end
end

---@param payload { root: string, rows: table[] }
function M.paint_runs(payload)
  local buf = pane.find('orch://runs' .. payload.root)
  local board = buf and boards[buf]
  if not buf or not board then
    return
  end
  board.rows = payload.rows
  local lines = vim.tbl_map(function(one)
    return one.text
  end, payload.rows)
  if #lines == 0 then
    lines = { 'No run in this repository yet. Start a feature: :Orch new domain/Feature what it does' }
  end
  pane.set_lines(buf, 0, lines)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for i, one in ipairs(payload.rows) do
    vim.api.nvim_buf_set_extmark(buf, namespace, i - 1, 0, {
      end_row = i,
      hl_group = groups[one.tone] or 'Normal',
      hl_eol = false,
      priority = 50,
      strict = false,
    })
  end
end

-- log -----------------------------------------------------------------------------------------------------------------

local log_help = {
  'd      its change as a diff    x      cancel it',
  'G      follow the end          q      close',
  'g?     this help',
}

local function board_here()
  return boards[vim.api.nvim_get_current_buf()]
end

local log_keys = {
  d = function()
    local board = board_here()
    require('orch.diff').show(board.run, board.cwd)
  end,
  x = function()
    local board = board_here()
    require('orch.command').start('cancel ' .. board.run, { cwd = board.cwd })
  end,
}

local function watch_log(cwd, run, done)
  require('orch.rpc').request('log', { cwd = cwd, run = run, on = true }, function(err, shown)
    if err then
      return require('orch.ui').fault(err)
    end
    done(shown)
  end, require('orch.config').get().timeout_ms)
end

--- Lines that came before their buffer was there.
local early = {} ---@type table<string, table[]>

--- The log of a run as it grows; the newest run without a name. `host` is what the co-process itself wrote.
---@param run string
---@param cwd string
function M.log(run, cwd)
  if run == 'host' then
    return M.text('orch://host', vim.list_extend({}, require('orch.rpc').lines))
  end
  early = {}
  watch_log(cwd, run, function(shown)
    require('orch.calm').when(function()
      local name = shown.run
      local buf = pane.open('orch://log/' .. name, 'orch-log', log_keys, log_help, function(gone)
        boards[gone] = nil
        require('orch.rpc').tell('log', { cwd = cwd, run = name, on = false })
      end)
      if not buf then
        return
      end
      if not boards[buf] then
        boards[buf] = { kind = 'log', cwd = cwd, root = shown.root, run = name }
        vim.wo[0][0].winbar = '%=' .. name .. '%='
      end
      local waiting = early[name] or {}
      early[name] = nil
      for _, payload in ipairs(waiting) do
        M.paint_log(payload)
      end
    end)
  end)
end

---@param payload { run: string, from: integer, lines: string[] }
function M.paint_log(payload)
  local buf = pane.find('orch://log/' .. payload.run)
  local board = buf and boards[buf]
  if not buf or not board then
    early[payload.run] = early[payload.run] or {}
    table.insert(early[payload.run], payload)
    return
  end
  local lines = vim.tbl_map(function(line)
    return vim.startswith(line, 'Next: ') and require('orch.ui').typed(line) or line
  end, payload.lines)
  local at_end = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.api.nvim_win_get_cursor(win)[1] >= vim.api.nvim_buf_line_count(buf) then
      table.insert(at_end, win)
    end
  end
  pane.set_lines(buf, payload.from, lines)
  for _, win in ipairs(at_end) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  end
end

--- A new co-process knows nothing of the buffers that the one before filled.
function M.again()
  for _, board in pairs(boards) do
    if board.kind == 'runs' then
      watch_runs(board.cwd)
    else
      watch_log(board.cwd, board.run, function() end)
    end
  end
end

-- text ----------------------------------------------------------------------------------------------------------------

--- What a command says in more than one line.
---@param name string
---@param lines string[]
---@param enter? boolean
function M.text(name, lines, enter)
  local buf = pane.open(name, 'orch-text', {}, { 'q      close', 'g?     this help' }, nil, enter)
  if not buf then
    return
  end
  local flat = {}
  for _, line in ipairs(lines) do
    vim.list_extend(flat, vim.split(line, '\n', { plain = true }))
  end
  pane.set_lines(buf, 0, flat)
  local win = vim.fn.bufwinid(buf)
  vim.api.nvim_win_set_height(win, math.max(3, math.min(#flat, math.floor(vim.o.lines / 2))))
end

--- A command whose output is for a terminal.
---@param argv string[]
function M.terminal(argv)
  vim.cmd('botright new')
  vim.bo.bufhidden = 'wipe'
  local start = vim.fn.has('nvim-0.11') == 1
      and function(words)
        return vim.fn.jobstart(words, { term = true })
      end
    or vim.fn.termopen
  start(argv)
  vim.cmd.startinsert()
end

return M
