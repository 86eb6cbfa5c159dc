local M = {}

local health = vim.health

local function output(argv, timeout_ms)
  local ok, done = pcall(function()
    return vim.system(argv, { text = true, cwd = vim.fn.getcwd() }):wait(timeout_ms or 5000)
  end)
  if not ok then
    return nil, tostring(done)
  end
  return vim.trim((done.stdout or '') .. (done.stdout == '' and done.stderr or '')), done.code
end

local function neovim()
  health.start('orch: this editor')
  if vim.fn.has('nvim-0.10') == 1 then
    local progress = vim.fn.has('nvim-0.12') == 1 and 'progress messages' or 'no progress messages before 0.12'
    health.ok(('Neovim %s, %s'):format(tostring(vim.version()), progress))
  else
    health.error('Neovim 0.10 or newer is needed')
  end
  local faults = require('orch.config').faults(require('orch.config').given())
  for _, fault in ipairs(faults) do
    health.warn(fault, { 'See :help orch-options' })
  end
  if #faults == 0 then
    health.ok('options are valid')
  end
end

local function node_and_bundle(info)
  health.start('orch: the co-process')
  local words, why = require('orch.node').command()
  if not words then
    health.error(why or 'no node', { 'Install Node 22.19 or newer, or set vim.g.orch = { node = "/path/to/node" }' })
  else
    local said = output(vim.list_extend(vim.deepcopy(words), { '--version' })) or ''
    local version = said:match('^[^\n]*')
    local parsed = vim.version.parse(version)
    if parsed and vim.version.ge(parsed, { 22, 19, 0 }) then
      health.ok(('%s %s'):format(words[1], version))
    else
      health.error(('%s is %s, 22.19 or newer is needed'):format(words[1], version == '' and 'no node' or version), {
        'Set vim.g.orch = { node = "/path/to/node" }',
      })
    end
  end
  if info.bundle then
    health.ok(info.bundle)
  else
    health.error('the bundle is missing', { 'Install the release branch, or run: npm run build' })
  end
  health.info(('state: %s%s'):format(info.state, info.pid and (', pid ' .. info.pid) or ''))
  if info.state == 'failed' then
    health.error('it does not start', { 'Look at :Orch log host, then :Orch restart' })
  end
  local lines = require('orch.rpc').lines
  if #lines > 0 then
    health.info('last line: ' .. lines[#lines])
  end
  return words
end

local function tools()
  health.start('orch: programs')
  local git = output({ 'git', '--version' })
  local version = git and vim.version.parse(git:match('%d+%.%d+%.%d+') or git:match('%d+%.%d+') or '0')
  if version and vim.version.ge(version, { 2, 38, 0 }) then
    health.ok(git)
  else
    health.error((git or 'git is missing') .. ', 2.38 or newer is needed', { 'Install git' })
  end
  local python
  for _, name in ipairs({ 'python3', '/usr/bin/python3', 'python' }) do
    if not python and vim.fn.executable(name) == 1 and select(2, output({ name, '-c', 'import pytest' })) == 0 then
      python = name
    end
  end
  if vim.fn.executable('uv') == 1 then
    health.ok('uv runs the tests of projects that use it')
  elseif python then
    health.ok(python .. ' has pytest')
  else
    health.warn('no python with pytest: tests of Python features cannot run', {
      'On Debian: apt-get install python3 python3-pytest',
    })
  end
  if vim.fn.executable('pi') == 1 then
    health.ok('pi is on PATH')
  else
    health.info('pi is not on PATH: models come from a provider key, a local server or the template worker')
  end
  health.info('vscode-lm/ models are VS Code only: a chain says so and goes on with the next one')
end

local function repository(info, words)
  health.start('orch: this folder')
  if vim.fn.getcwd() == '' then
    return health.warn('the current folder is gone', { 'Go to another one with :cd' })
  end
  local root = require('orch.buffers').root(vim.fn.getcwd())
  if not root then
    return health.warn(vim.fn.getcwd() .. ' is in no git repository', { 'Go to one with :cd, or git init' })
  end
  health.ok(root)
  local runs = vim.fs.joinpath(root, '.orch', 'runs')
  local place = vim.uv.fs_stat(runs) and runs or root
  if vim.uv.fs_access(place, 'W') then
    health.ok('runs can be written')
  else
    health.warn(place .. ' cannot be written: runs go to the state folder of this account')
  end
  local cli = info.bundle and vim.fs.joinpath(vim.fs.dirname(vim.fs.dirname(info.bundle)), 'cli', 'main.mjs')
  if not words or not cli or not vim.uv.fs_stat(cli) then
    return health.error('the command line is not beside the co-process', { 'Install the release branch again' })
  end
  local argv = vim.list_extend(vim.deepcopy(words), { '--disable-warning=ExperimentalWarning', cli })
  local version = output(vim.list_extend(vim.deepcopy(argv), { '--version' }), 10000)
  if (version or '') == '' then
    return health.error('the command line does not start', { 'Look at the co-process above' })
  end
  health.ok('orch ' .. version)
  local said = output(vim.list_extend(argv, { 'trust', '--json', '--no-input' }), 20000) or ''
  local ok, document = pcall(vim.json.decode, said)
  if not ok or type(document) ~= 'table' then
    health.warn('trust could not be asked: ' .. said:sub(1, 200))
  elseif document.ok then
    health.ok(document.summary)
  else
    health.info('not trusted: its tests, hooks and settings have no effect before :Orch trust')
  end
end

function M.check()
  local info = require('orch.rpc').info()
  neovim()
  local words = node_and_bundle(info)
  tools()
  repository(info, words)
end

return M
