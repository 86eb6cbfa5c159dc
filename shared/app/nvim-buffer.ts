import type { AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { ActiveBuffer } from "../model/run-files.ts";
import type { Process } from "../ports/process.ts";

const answerMs = 5000;

/**
 * The file that is open in the Neovim whose terminal the command was typed in (`$NVIM`). It is asked over its own
 * socket by its own client; what it answers is data. In a terminal window the file is the one of the window before.
 * One that is busy (it loads, or waits for a key) may not answer: that is no answer about a file.
 *
 * @throws OrchError `target.missing` when it does not answer in time
 */
export async function nvimBuffer(
  process: Process,
  place: { readonly env: Readonly<Record<string, string>>; readonly cwd: AbsPath },
  signal: AbortSignal,
): Promise<ActiveBuffer | undefined> {
  const { NVIM: server = "", PATH: search = "" } = place.env;
  const program = server === "" ? undefined : await process.which("nvim", search);
  if (program === undefined) return undefined;
  const exit = await process.run(
    {
      argv: [program, "--clean", "--headless", "--server", server, "--remote-expr", expression],
      cwd: place.cwd,
      env: clientEnvironment(place.env),
      timeoutMs: answerMs,
      maxOutputBytes: 10_000_000,
    },
    signal,
  );
  if (exit.kind === "timed-out") {
    const who = `the Neovim at $NVIM (${server}) did not answer in ${answerMs / 1000} s`;
    throw new OrchError("target.missing", `${who}: name the feature, or the file with --file`, {
      data: { command: "modify" },
    });
  }
  if (exit.kind !== "exited" || exit.code !== 0) return undefined;
  return parsed(new TextDecoder().decode(exit.stdout).trim());
}

function parsed(text: string): ActiveBuffer | undefined {
  try {
    const read = ActiveBuffer.safeParse(JSON.parse(text));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}

/** The client reads no configuration, so it needs only a place to live. */
function clientEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const names = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_RUNTIME_DIR", "USERPROFILE", "SYSTEMROOT", "TEMP"];
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** Lua in one line and without single quotes, for it stands in a string of Vim's. Visual mode is the only selection. */
const lua = `(function()
  local api, fn = vim.api, vim.fn
  local function isfile(b)
    return b > 0 and api.nvim_buf_is_valid(b) and vim.bo[b].buftype == "" and api.nvim_buf_get_name(b) ~= ""
  end
  local current = api.nvim_get_current_buf()
  local b = current
  if not isfile(b) then b = fn.winbufnr(fn.winnr("#")) end
  if not isfile(b) then b = fn.bufnr("#") end
  if not isfile(b) then return "" end
  local out = { path = api.nvim_buf_get_name(b), changed = vim.bo[b].modified, changedtick = vim.b[b].changedtick }
  if out.changed then
    local eol = vim.bo[b].fileformat == "dos" and string.char(13, 10) or string.char(10)
    out.text = table.concat(api.nvim_buf_get_lines(b, 0, -1, false), eol) .. (vim.bo[b].endofline and eol or "")
  end
  local mode = fn.mode():sub(1, 1)
  if b == current and (mode == "v" or mode == "V" or mode == string.char(22)) then
    local from, to = fn.line("v"), fn.line(".")
    out.selection = { startLine = math.min(from, to), endLine = math.max(from, to) }
  end
  return fn.json_encode(out)
end)()`;
const expression = `luaeval('${lua.replaceAll(/\s*\n\s*/g, " ")}')`;
