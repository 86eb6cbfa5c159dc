--- Completion: subcommands and options from the generated table, names by the table's kinds (names.lua). Node is not
--- asked, so that a Tab never waits for it.
local M = {}

--- Words and where they begin, read as the co-process reads them: a quote counts at a word's start, a backslash keeps a
--- blank. The last one may be unfinished, or empty.
---@param text string
---@return string[]
local function split(text)
  local words, at = {}, 1
  while true do
    at = text:find('%S', at)
    if not at then
      table.insert(words, '')
      return words
    end
    local quote, word = text:sub(at, at):match('["\']'), {}
    local from = at
    if quote then
      at = at + 1
    end
    while at <= #text do
      local char = text:sub(at, at)
      if char == '\\' and text:find('^[%s"\'\\]', at + 1) then
        at = at + 1
        char = text:sub(at, at)
      elseif quote and char == quote and not text:find('^%S', at + 1) then
        break
      elseif not quote and char:find('%s') then
        break
      end
      table.insert(word, char)
      at = at + 1
    end
    local closed = quote and at <= #text
    if quote and not closed then
      -- It was no quote, or is not closed yet.
      local plain = text:match('^%S+', from)
      at, word = from + #plain, { plain }
    elseif closed then
      at = at + 1
    end
    table.insert(words, table.concat(word))
    if at > #text then
      return words
    end
  end
end

local function by_name(spec, written)
  for _, option in ipairs(spec.options) do
    if written == '--' .. option.name or (option.short and written == '-' .. option.short) then
      return option
    end
  end
end

--- What stands in finished words: the plain ones, the options by name, and the option whose value comes next.
local function read(spec, words)
  local plain, options, open, literal = {}, {}, nil, false
  for _, word in ipairs(words) do
    local name, inline = word:match('^([^=]*)(=?)')
    local option = not literal and vim.startswith(word, '-') and by_name(spec, name) or nil
    -- A value in brackets may be left out.
    if open and not (vim.startswith(open.value, '[') and vim.startswith(word, '-')) then
      open = nil
    elseif word == '--' and not literal then
      literal, open = true, nil
    elseif not literal and (word == '--help' or word == '-h') then
      options.help = true
    elseif option then
      options[option.name] = true
      open = option.value and inline == '' and option or nil
    elseif literal or not word:find('^%-%-?%w') then
      open = nil
      table.insert(plain, word)
    end
  end
  return { words = plain, options = options, open = open, literal = literal }
end

---@param spec table a row of the table
---@param text string what was typed after the subcommand
---@return { words: string[], options: table<string, boolean> }
function M.read(spec, text)
  local words = split(text .. ' ')
  table.remove(words)
  return read(spec, words)
end

--- By the beginning, else by the beginning of a part: `Inv` stands for `Billing/Invoice`.
local function matching(all, lead)
  local seen, out, near, low = {}, {}, {}, lead:lower()
  for _, one in ipairs(all) do
    if not seen[one] then
      seen[one] = true
      if vim.startswith(one:lower(), low) then
        table.insert(out, one)
      elseif low ~= '' then
        for part in one:lower():gmatch('[^/]+') do
          if vim.startswith(part, low) then
            table.insert(near, one)
            break
          end
        end
      end
    end
  end
  return #out > 0 and out or near
end

---@param lead string
---@return string[]
function M.subcommands(lead)
  local names = vim.tbl_keys(require('orch.table').commands)
  vim.list_extend(names, vim.tbl_keys(require('orch.command').own))
  table.sort(names)
  return matching(names, lead)
end

--- What may stand for an argument or an option's value.
---@param of { choices?: string[], completes?: string|string[] }
---@param name string the subcommand
---@param lead string
local function offered(of, name, lead)
  local kinds = of.completes or {}
  local all, paths = vim.list_extend({}, of.choices or {}), {}
  for _, kind in ipairs(type(kinds) == 'table' and kinds or { kinds }) do
    vim.list_extend(all, require('orch.names').of(kind, name))
    -- A contract may lie anywhere.
    if kind == 'path' or (kind == 'contract-file' and #matching(all, lead) == 0) then
      paths = require('orch.names').paths(lead)
    end
  end
  return vim.list_extend(matching(all, lead), paths)
end

local function all_options(spec, given)
  local out = {}
  for _, option in ipairs(spec.options) do
    if not given[option.name] then
      table.insert(out, '--' .. option.name)
    end
  end
  return out
end

local function argument_at(spec, at)
  local last = spec.args[#spec.args]
  return spec.args[at] or (last and last.many and last) or nil
end

--- A blank in a name is kept by a backslash.
local function escaped(all)
  return vim.tbl_map(function(one)
    return (one:gsub('([\\%s])', '\\%1'))
  end, all)
end

---@param lead string
---@param line string
---@param pos integer
---@return string[]
function M.complete(lead, line, pos)
  -- With a range the line starts with it, and a command may be shortened: `'<,'>Orc! mo`.
  local rest = line:sub(1, pos):match('%f[%w]Or?c?h?!?%s+(.*)$')
  if not rest then
    return {}
  end
  local words = split(rest)
  local name, now = words[1], words[#words]
  if #words == 1 then
    return M.subcommands(lead)
  end
  local before = vim.list_slice(words, 2, #words - 1)
  local own = require('orch.command').own[name]
  if own then
    return #before == 0 and offered(own, name, now) or {}
  end
  local spec = require('orch.table').commands[name]
  if not spec then
    return {}
  end
  local seen = read(spec, before)
  local flag, inline = now:match('^(%-%-?[%w-]+)=(.*)$')
  local option = flag and not seen.literal and by_name(spec, flag)
  if option then
    return vim.tbl_map(function(one)
      return flag .. '=' .. one
    end, escaped(option.value and offered(option, name, inline) or {}))
  end
  if seen.open and not vim.startswith(now, '-') then
    return escaped(offered(seen.open, name, now))
  end
  if vim.startswith(now, '-') and not seen.literal then
    return matching(all_options(spec, seen.options), now)
  end
  local argument = argument_at(spec, #seen.words + 1)
  return argument and escaped(offered(argument, name, now)) or {}
end

local asked ---@type { of: table, name: string }?

--- The 'completion' of a vim.ui.input that asks for `of`.
---@return string?
function M.offering(spec, of)
  asked = { of = of, name = spec.name }
  return (of.completes or of.choices) and "customlist,v:lua.require'orch.complete'.answer" or nil
end

---@param lead string
---@return string[]
function M.answer(lead)
  return asked and offered(asked.of, asked.name, lead) or {}
end

return M
