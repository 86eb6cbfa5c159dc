--- What a run asks, through vim.ui.select and vim.ui.input. One question at a time, and only when it is calm.
local M = {}

local queue = {} ---@type table[]
local open ---@type table?
local left ---@type table? The one whose picker just closed without an answer.

local function key(ask)
  return ask.run .. '/' .. ask.id
end

local function answer(ask, said)
  local params = vim.tbl_extend('force', { cwd = ask.root, run = ask.run, id = ask.id }, said)
  require('orch.rpc').request('answer', params, function(err, result)
    if err then
      require('orch.ui').fault(err)
    elseif not result.stands then
      require('orch.ui').notify('it was answered already; the first answer stands', 'warning')
    end
  end, require('orch.config').get().timeout_ms)
end

--- The picker that comes with Neovim prints its prompt above the list, so the whole text fits there.
local function prompt(ask)
  local detail = require('orch.ui').typed(vim.trim(ask.detail))
  if detail == '' then
    return ask.title
  end
  local plain = debug.getinfo(vim.ui.select, 'S').source:find('vim/ui.lua', 1, true) ~= nil
  return plain and (ask.title .. '\n' .. detail) or (ask.title .. ' (' .. detail:gsub('%s*\n.*', ' ...') .. ')')
end

local pump

local function done(ask, said)
  if open ~= ask then
    -- Answered elsewhere while its picker was open, or a picker that calls twice.
    if ask.gone and said then
      require('orch.ui').notify('it was answered already; the first answer stands', 'warning')
    end
    return
  end
  open = nil
  if said then
    answer(ask, said)
    return vim.schedule(pump)
  end
  left = ask
  -- What came while the picker blocked Neovim is heard first: the host may have closed it.
  vim.schedule(function()
    left = nil
    if not ask.gone then
      require('orch.ui').notify('left open; answer with :Orch reply', 'info')
    end
    pump()
  end)
end

local function show(ask)
  open = ask
  -- The pickers that come with Neovim return when they are answered; others return at once.
  ask.inside = true
  require('orch.rpc').tell('picking', { ask = key(ask) })
  if ask.kind == 'text' then
    vim.ui.input({ prompt = ask.title .. ': ' }, function(text)
      done(ask, text and text ~= '' and { text = text } or nil)
    end)
  else
    vim.ui.select(ask.choices, {
      prompt = prompt(ask),
      kind = 'orch',
      format_item = function(choice)
        return choice.label .. (choice.id == ask.otherwise and ' (taken when nobody answers)' or '')
      end,
    }, function(choice)
      done(ask, choice and { choice = choice.id })
    end)
  end
  ask.inside = false
  require('orch.rpc').tell('picking', { ask = '' })
  if open ~= ask then
    -- The list has scrolled the screen; the next message over it would raise a hit-enter prompt.
    vim.cmd.redraw()
  end
end

local waiting = false

pump = function()
  if waiting or open or #queue == 0 then
    return
  end
  waiting = true
  require('orch.calm').when(function()
    waiting = false
    if not open and #queue > 0 then
      show(table.remove(queue, 1))
    end
  end)
end

---@param ask { root: string, run: string, id: string, kind: string, title: string, detail: string, choices: table[] }
function M.take(ask)
  for _, other in ipairs(queue) do
    if key(other) == key(ask) then
      return
    end
  end
  if open and key(open) == key(ask) then
    return
  end
  table.insert(queue, ask)
  vim.schedule(pump)
end

--- It was answered elsewhere, or its run is over. Neovim's own picker is closed (before 0.11 it blocks what is said here,
--- so the host has closed it by now); one that somebody else made cannot be, so it is said, and its answer would not count.
---@param gone { run: string, id: string, by?: string, how?: string }
function M.retract(gone)
  queue = vim.tbl_filter(function(ask)
    return key(ask) ~= key(gone)
  end, queue)
  if left and key(left) == key(gone) then
    left.gone = true
    return require('orch.ui').notify(('%s: %s'):format(left.title, gone.how), 'warning')
  end
  local was = open
  if not was or key(was) ~= key(gone) then
    return
  end
  was.gone, open = true, nil
  local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
  if was.inside and (mode == 'c' or mode == 'r') then
    -- In normal mode, where it may arrive when the person was faster, <Esc> does nothing.
    vim.api.nvim_input('<Esc>')
    require('orch.ui').notify(('%s: %s'):format(was.title, gone.how), 'warning')
  else
    require('orch.ui').notify(('%s: %s; close its picker'):format(was.title, gone.how), 'warning')
  end
  vim.schedule(pump)
end

--- `:Orch reply` without an id: everything that waits, oldest first.
function M.all(cwd)
  require('orch.rpc').request('asks', { cwd = cwd }, function(err, asks)
    if err then
      return require('orch.ui').fault(err)
    end
    if type(asks) ~= 'table' or #asks == 0 then
      return require('orch.ui').notify('no decision waits for you')
    end
    if #asks == 1 then
      return M.take(asks[1])
    end
    require('orch.calm').when(function()
      vim.ui.select(asks, {
        prompt = 'Which one?',
        kind = 'orch',
        format_item = function(ask)
          return ('%s: %s'):format(ask.command, ask.title)
        end,
      }, function(ask)
        if ask then
          M.take(ask)
        end
      end)
    end)
  end, require('orch.config').get().timeout_ms)
end

return M
