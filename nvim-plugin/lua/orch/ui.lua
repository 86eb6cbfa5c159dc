--- Messages. One screen line each, one at a time: a message that does not fit, or a second one on top of it, raises a
--- hit-enter prompt, and that blocks every RPC call until somebody presses a key.
local M = {}

local levels = { info = vim.log.levels.INFO, warning = vim.log.levels.WARN, error = vim.log.levels.ERROR }
local waiting = {} ---@type { line: string, tail: string, rank: integer, level: string }[]
local showing = false
local shown = {} ---@type table<string, { title: string, text: string }> progress messages by run
local has_progress = vim.fn.has('nvim-0.12') == 1

--- One line; a name from a repository may hold anything.
local function one_line(text)
  return (text:gsub('%s*[\r\n].*', ' ...'):gsub('%c', ' '))
end

--- One line of at most `room` screen cells.
---@param line string
---@param room integer
---@param tail string what a line ends with that had to be cut
local function fit(line, room, tail)
  line = one_line(line)
  if vim.api.nvim_strwidth(line) <= room then
    return line
  end
  local left = math.max(1, room - vim.api.nvim_strwidth(tail))
  local cut = vim.fn.strcharpart(line, 0, left)
  -- Wide characters take two cells each.
  while vim.api.nvim_strwidth(cut) > left do
    local over = vim.api.nvim_strwidth(cut) - left
    cut = vim.fn.strcharpart(cut, 0, vim.fn.strchars(cut) - math.ceil(over / 2))
  end
  return cut .. tail
end

local function room()
  return math.max(20, vim.v.echospace)
end

local function pump()
  local mode = vim.api.nvim_get_mode().mode
  -- A message over a command line that is being typed would hide it.
  if mode:sub(1, 1) == 'c' or mode:sub(1, 1) == 'r' then
    return vim.defer_fn(pump, 100)
  end
  if #waiting == 0 then
    showing = false
    return
  end
  -- Several at once: the gravest is shown, the last of equals; all of them are in the log.
  local one, more = nil, #waiting - 1
  for _, other in ipairs(waiting) do
    if not one or other.rank >= one.rank then
      one = other
    end
  end
  waiting = {}
  local line = more == 0 and one.line or ('%s (+%d more)'):format(one.line, more)
  vim.cmd.redraw()
  local whole, space = line .. one.tail, room()
  if vim.api.nvim_strwidth(whole) > space and one.tail ~= '' and #one.tail <= space / 2 then
    whole = fit(line, space - #one.tail, '...') .. one.tail
  end
  vim.notify(fit(whole, space, '... :Orch log host'), levels[one.level], { title = 'orch' })
  vim.defer_fn(pump, 50)
end

--- Later, never inside the command that is running: an error there would be thrown at whoever called it.
---@param text string
---@param level? 'info'|'warning'|'error'
---@param more? { rank?: integer, tail?: string } of what comes at once the highest rank is shown; a tail is never cut
function M.notify(text, level, more)
  level, more = level or 'info', more or {}
  local line = vim.startswith(text, 'orch ') and text or ('orch: ' .. text)
  local tail = one_line(more.tail or '')
  require('orch.rpc').note(line .. tail)
  local wanted = require('orch.config').get().notify
  if (wanted == 'none' and level ~= 'error') or (wanted == 'decisions' and level == 'info') then
    return
  end
  table.insert(waiting, { line = one_line(line), tail = tail, level = level, rank = more.rank or levels[level] })
  if not showing then
    showing = true
    vim.schedule(pump)
  end
end

--- What stands in the way, and the next keystroke as it is typed here.
---@param err { message: string, hint?: string }
function M.fault(err)
  local hint = err.hint and err.hint ~= '' and ('. ' .. M.typed(err.hint)) or ''
  -- A long hint would leave no room for what it is about.
  local short = #hint <= 60
  M.notify(err.message:gsub('[.]$', '') .. (short and '' or hint), 'error', { tail = short and hint or '' })
end

--- `orch merge` of a shell is `:Orch merge` here, and a file to edit is `:edit`.
---@param text string
---@return string
function M.typed(text)
  return (text:gsub('%f[%w]orch (%l)', ':Orch %1'):gsub('^edit ', ':edit '))
end

---@param active { run: string, title: string, text: string, percent?: integer, own: boolean }[]
---@param before { run: string }[]
function M.progress(active, before)
  if not has_progress or not require('orch.config').get().progress then
    return
  end
  local alive = {}
  for _, run in ipairs(active) do
    alive[run.run] = true
    local text = fit(run.text, room() - vim.api.nvim_strwidth(run.title) - 12, '...')
    local known = shown[run.run]
    if run.own and not (known and known.text == text) then
      shown[run.run] = { title = run.title, text = text }
      M.echo_progress(run.run, { text = text, status = 'running', percent = run.percent })
    end
  end
  -- A parked run, or one that died, has no end of its own.
  for _, run in ipairs(before) do
    if not alive[run.run] and shown[run.run] then
      vim.defer_fn(function()
        if shown[run.run] then
          M.echo_progress(run.run, { text = 'stopped; see :Orch runs', status = 'cancel' })
          shown[run.run] = nil
        end
      end, 500)
    end
  end
end

---@param run string
---@param message { text: string, status: string, percent?: integer }
function M.echo_progress(run, message)
  local mode = vim.api.nvim_get_mode().mode
  if message.status == 'running' and mode:sub(1, 1) ~= 'n' then
    return
  end
  -- Over what a prompt has left on the screen a message would raise a hit-enter prompt.
  vim.cmd.redraw()
  pcall(vim.api.nvim_echo, { { message.text } }, message.status ~= 'running', {
    id = 'orch.' .. run,
    kind = 'progress',
    source = 'orch',
    title = shown[run] and shown[run].title or 'orch',
    status = message.status,
    percent = message.percent,
  })
end

--- A run that this Neovim started is over.
function M.ended(payload)
  local text, tail = ('%s: %s'):format(payload.title, payload.summary):gsub('[.]$', ''), ''
  if payload.cancelled then
    text = payload.title .. ': cancelled'
  elseif payload.hint ~= '' then
    text = text .. '. ' .. M.typed(payload.hint)
  elseif payload.next[1] then
    tail = '. Next: ' .. M.typed(payload.next[1])
  end
  if shown[payload.run] then
    local status = payload.cancelled and 'cancel' or payload.ok and 'success' or 'failed'
    M.echo_progress(
      payload.run,
      { text = fit(payload.summary, room() - vim.api.nvim_strwidth(payload.title) - 12, '...'), status = status }
    )
    shown[payload.run] = nil
  end
  M.notify(text, payload.ok and 'info' or 'error', { rank = 10, tail = tail })
end

--- The co-process is gone: what it told about is not known any more. The runs themselves go on.
function M.lost()
  for run in pairs(shown) do
    M.echo_progress(run, { text = 'not watched any more; see :Orch runs', status = 'cancel' })
  end
  shown = {}
end

return M
