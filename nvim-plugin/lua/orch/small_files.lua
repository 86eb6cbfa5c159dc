--- Small files as completion reads them: what is too large, gone or damaged is nothing.
local M = {}

local max_bytes = 4 * 1024 * 1024
--- Names that are offered of one kind.
M.most = 500

---@return string?
function M.text(path)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= 'file' or stat.size > max_bytes then
    return nil
  end
  local file = io.open(path, 'r')
  if not file then
    return nil
  end
  local text = file:read('*a')
  file:close()
  return text
end

---@return table?
function M.json(path)
  local text = M.text(path)
  local ok, value = pcall(vim.json.decode, text or '', { luanil = { object = true, array = true } })
  return ok and type(value) == 'table' and value or nil
end

--- The table below a name; an empty one where there is none.
---@return table
function M.part(value, name)
  local found = type(value) == 'table' and value[name] or nil
  return type(found) == 'table' and found or {}
end

--- Names of the folders, or files, in a folder.
---@return string[]
function M.entries(folder, kind, pattern)
  local out = {}
  for name, type in vim.fs.dir(folder) do
    local found = type == kind and name:match(pattern)
    if found then
      table.insert(out, found)
    end
    if #out >= M.most * 4 then
      break
    end
  end
  table.sort(out)
  return out
end

return M
