--- Findings as a quickfix list and as diagnostics of the namespace "orch". A newer run takes away what an older one said.
local M = {}

local namespace = vim.api.nvim_create_namespace('orch')
local lists = {} ---@type table<string, integer> quickfix list ids by root and source
local placed = {} ---@type table<string, table<string, table[]>> by root and source, then by file

local severity = { E = vim.diagnostic.severity.ERROR, W = vim.diagnostic.severity.WARN }

local function diagnostics_of(file)
  local out = {}
  for _, by_file in pairs(placed) do
    for _, item in ipairs(by_file[file] or {}) do
      table.insert(out, {
        lnum = math.max(0, item.lnum - 1),
        col = math.max(0, item.col - 1),
        message = item.remedy ~= '' and (item.text .. '\n' .. item.remedy) or item.text,
        severity = severity[item.type],
        source = 'orch',
        code = item.rule,
        user_data = { orch = { rule = item.rule, remedy = item.remedy } },
      })
    end
  end
  return out
end

local function paint(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if vim.bo[buf].buftype == '' and name ~= '' then
    vim.diagnostic.set(namespace, buf, diagnostics_of(require('orch.buffers').real(name)))
  end
end

local function paint_all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) then
      paint(buf)
    end
  end
  vim.api.nvim_create_autocmd('BufReadPost', {
    group = vim.api.nvim_create_augroup('orch.findings', {}),
    callback = function(event)
      paint(event.buf)
    end,
  })
end

--- Replaces the list that this root's last run or `qa` made; another list of the person's is never touched.
local function fill(key, payload)
  local what = {
    title = 'orch: ' .. payload.title,
    context = { orch = { root = payload.root, run = payload.run or '' } },
    items = vim.tbl_map(function(item)
      return {
        filename = item.filename,
        lnum = item.lnum,
        col = item.col,
        type = item.type,
        text = item.text,
        user_data = { rule = item.rule, remedy = item.remedy },
      }
    end, payload.items),
  }
  local id = lists[key]
  if id and vim.fn.getqflist({ id = id, title = 1 }).title ~= '' then
    what.id = id
    vim.fn.setqflist({}, 'r', what)
  elseif #payload.items > 0 then
    vim.fn.setqflist({}, ' ', what)
    lists[key] = vim.fn.getqflist({ id = 0 }).id
  end
end

---@param payload { root: string, run?: string, title: string, items: table[] }
function M.set(payload)
  local config = require('orch.config').get()
  local key = payload.root .. (payload.run and '|run' or '|qa')
  if config.quickfix then
    fill(key, payload)
  end
  placed[key] = {}
  if config.diagnostics then
    for _, item in ipairs(payload.items) do
      local file = require('orch.buffers').real(item.filename)
      placed[key][file] = placed[key][file] or {}
      table.insert(placed[key][file], item)
    end
  end
  paint_all()
end

--- `:Orch qf`: opens the newest list of ours.
function M.open()
  local newest = 0
  for _, id in pairs(lists) do
    newest = math.max(newest, id)
  end
  local nr = newest > 0 and vim.fn.getqflist({ id = newest, nr = 1 }).nr or 0
  if nr == 0 then
    return require('orch.ui').notify('no findings yet; run :Orch qa')
  end
  vim.cmd('silent ' .. nr .. 'chistory')
  vim.cmd('botright copen')
end

return M
