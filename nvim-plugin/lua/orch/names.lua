--- Names that completion offers, by the kinds of the command table, read from small files: nothing is started, nothing
--- is decided by them, and what cannot be read offers nothing. As shared/adapters/completion-facts.ts has them.
local M = {}

local files = require('orch.small_files')
local part = files.part

-- the registry --------------------------------------------------------------------------------------------------------

--- The nearest registry upwards, and the files its apps have of their own.
local function registries(root, cwd)
  local at = cwd
  while true do
    local main = files.json(vim.fs.joinpath(at, '.features.json'))
    if main then
      local all = { main }
      for _, app in pairs(part(main, 'apps')) do
        local config = type(app) == 'table' and app.config
        if type(config) == 'string' and vim.endswith(config, '.features.json') and not config:find('..', 1, true) then
          table.insert(all, files.json(vim.fs.joinpath(at, config)))
        end
      end
      return all
    end
    local up = vim.fs.dirname(at)
    if at == root or not up or up == at then
      return {}
    end
    at = up
  end
end

--- Folders that hold slices, relative to the root, for the registry at the root.
---@param root string
---@return string[]
function M.slice_folders(root)
  local file = files.json(vim.fs.joinpath(root, '.features.json')) or {}
  local dirs = { type(file.features_dir) == 'string' and file.features_dir or 'features' }
  for _, app in pairs(part(file, 'apps')) do
    if type(app) == 'table' and type(app.features_dir) == 'string' then
      table.insert(dirs, app.features_dir)
    end
  end
  return dirs
end

-- git -----------------------------------------------------------------------------------------------------------------

--- The git folder that holds refs; a linked worktree's `.git` is a file that names its own.
local function git_dir(root)
  local at = vim.fs.joinpath(root, '.git')
  local link = (files.text(at) or ''):match('^gitdir:%s*([^\r\n]+)')
  if link then
    at = vim.startswith(link, '/') and link or vim.fs.joinpath(root, link)
  end
  local common = files.text(vim.fs.joinpath(at, 'commondir'))
  if common then
    common = vim.trim(common)
    at = vim.startswith(common, '/') and common or vim.fs.joinpath(at, common)
  end
  return vim.fs.normalize(at)
end

--- Names below `refs/<under>/`, loose and packed.
local function refs(root, under)
  local dir, out = git_dir(root), {}
  for name, kind in vim.fs.dir(vim.fs.joinpath(dir, 'refs', under), { depth = 8 }) do
    if kind == 'file' and not vim.endswith(name, '.lock') then
      table.insert(out, name)
    end
  end
  for line in (files.text(vim.fs.joinpath(dir, 'packed-refs')) or ''):gmatch('[^\r\n]+') do
    local name = line:match('^%x+ refs/' .. vim.pesc(under) .. '/(.+)$')
    if name then
      table.insert(out, name)
    end
  end
  table.sort(out)
  return vim.list_slice(out, 1, files.most)
end

-- by kind -------------------------------------------------------------------------------------------------------------

--- A kind that is not here offers nothing: a newer table never breaks an older editor.
---@type table<string, fun(root: string, command: string, cwd: string): string[]>
local kinds = {
  feature = function(root, command, cwd)
    local targets, domains = {}, {}
    for _, file in ipairs(registries(root, cwd)) do
      for name, domain in vim.spairs(part(file, 'known_features')) do
        if type(domain) == 'string' then
          table.insert(targets, domain .. '/' .. name)
          table.insert(domains, domain .. '/')
        end
      end
      for _, row in vim.spairs(part(file, 'domain_keywords')) do
        if type(row) == 'table' and type(row[1]) == 'string' then
          table.insert(domains, row[1] .. '/')
        end
      end
    end
    -- A new feature is in none of the registered places; its domain may be.
    return command == 'new' and domains or targets
  end,
  app = function(root, _, cwd)
    local out = {}
    for _, file in ipairs(registries(root, cwd)) do
      vim.list_extend(out, vim.tbl_keys(part(file, 'apps')))
    end
    table.sort(out)
    return out
  end,
  branch = function(root)
    return refs(root, 'heads')
  end,
  trash = function(root)
    return refs(root, 'orch/trash')
  end,
  run = function(root)
    return vim.tbl_map(function(one)
      return one.run
    end, require('orch.run_names').runs(root))
  end,
  attempt = function(root)
    return require('orch.run_names').attempts(root)
  end,
  decision = function(root)
    return require('orch.run_names').decisions(root)
  end,
  contract = function(root)
    return require('orch.run_names').contracts(root)
  end,
  ['contract-file'] = function(root, _, cwd)
    local inside = cwd:sub(#root + 2)
    local up = inside == '' and '' or ('../'):rep(#vim.split(inside, '/'))
    return vim.tbl_map(function(name)
      return up .. '.orch/contracts/' .. name
    end, files.entries(vim.fs.joinpath(root, '.orch', 'contracts'), 'file', '^.+%.json$'))
  end,
  model = function(_, command)
    local places, out = require('orch.places'), {}
    local chosen = files.json(vim.fs.joinpath(places.config_dir(), 'model_config.json'))
    local chain = files.json(vim.fs.joinpath(places.config_dir(), 'model_chain.json'))
    local offered = files.json(vim.fs.joinpath(places.cache_dir(), 'offered-models.json'))
    vim.list_extend(out, { chosen and chosen.model })
    for _, list in ipairs({ chain or {}, offered or {}, require('orch.table').models }) do
      vim.list_extend(out, list)
    end
    if vim.env.ORCH_DEMO_URL then
      table.insert(out, 'demo/invoice')
    end
    if command == 'model' then
      table.insert(out, 'auto')
    end
    return vim.tbl_filter(function(id)
      return type(id) == 'string'
    end, out)
  end,
  worker = function(root)
    local out = vim.list_slice(require('orch.table').workers)
    for _, folder in ipairs({ require('orch.places').config_dir(), vim.fs.joinpath(root, '.orch') }) do
      for id in vim.spairs(part(files.json(vim.fs.joinpath(folder, 'config.json')), 'workers')) do
        if not vim.list_contains(out, id) then
          table.insert(out, id)
        end
      end
    end
    return out
  end,
  setting = function()
    return require('orch.table').settings
  end,
  command = function()
    return require('orch.complete').subcommands('')
  end,
}

---@param kind string
---@param command string
---@return string[]
function M.of(kind, command)
  local list = kinds[kind]
  if vim.fn.getcwd() == '' then
    return {}
  end
  local cwd = require('orch.buffers').real(vim.fn.getcwd())
  local root = require('orch.buffers').root(cwd) or cwd
  return list and list(root, command, cwd) or {}
end

--- Files and folders, spelled as they were begun.
---@param lead string
---@return string[]
function M.paths(lead)
  local folder, begun = lead:match('^(.*/)([^/]*)$')
  folder, begun = folder or '', begun or lead
  local at = vim.startswith(folder, '~') and vim.fs.normalize(folder) or folder
  if not vim.startswith(at, '/') then
    at = vim.fs.joinpath(vim.fn.getcwd(), at)
  end
  local out = {}
  for name, kind in vim.fs.dir(at) do
    if vim.startswith(name, begun) and (begun ~= '' or not vim.startswith(name, '.')) then
      local is_folder = kind == 'directory' or (kind == 'link' and vim.fn.isdirectory(vim.fs.joinpath(at, name)) == 1)
      table.insert(out, folder .. name .. (is_folder and '/' or ''))
    end
  end
  table.sort(out)
  return vim.list_slice(out, 1, files.most)
end

return M
