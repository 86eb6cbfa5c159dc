export const shells = ["bash", "zsh", "fish", "pwsh"] as const;
export type Shell = (typeof shells)[number];

export function isShell(name: string): name is Shell {
  return (shells as readonly string[]).includes(name);
}

/**
 * What a shell reads to complete `orch`. The words come from `orch __complete`, so a script never grows old. It always
 * asks the `orch` of the PATH, never the word on the command line: `./.agents/orch` may be whatever a repository put
 * there, and pressing Tab is no reason to run it.
 */
export function completionScript(shell: Shell): string {
  return scripts[shell];
}

/** Stands for an empty word where a shell cannot hand one over. */
export const emptyWord = ":empty:";

const bash = `# bash completion for orch. Use it now: source <(orch completion bash)
# For every shell: orch completion bash > ~/.local/share/bash-completion/completions/orch
_orch() {
  local line="\${COMP_LINE:0:COMP_POINT}" value rest strip="" lines
  local -a words
  COMPREPLY=()
  # Split by white space, not by COMP_WORDBREAKS: ids of models hold colons.
  IFS=$' \\t\\n' read -r -a words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local now="\${words[\${#words[@]}-1]}"
  # Bash replaces only what follows the last break character.
  [[ $now == *[=:]* ]] && strip="\${now%"\${now##*[=:]}"}"
  lines="$(command orch __complete -- "\${words[@]:1}" 2>/dev/null)" || return 0
  while IFS=$'\\t' read -r value rest; do
    [[ -z $value ]] && continue
    if [[ $value == :path ]]; then
      compopt -o filenames 2>/dev/null
      local file
      while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "\${now#"$rest"}")
      return 0
    fi
    COMPREPLY+=("\${value#"$strip"}")
  done <<< "$lines"
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
  return 0
}
complete -F _orch orch
`;

const zsh = `#compdef orch
# zsh completion for orch. Use it now: source <(orch completion zsh)
# For every shell: orch completion zsh > a folder of your fpath, named _orch
_orch() {
  local -a values shown
  local value rest line
  for line in "\${(@f)$(command orch __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    value="\${line%%$'\\t'*}"
    rest="\${line#*$'\\t'}"
    if [[ $value == :path ]]; then
      [[ -n $rest ]] && compset -P "\${rest//\\*/}"
      _files
      return
    fi
    values+=("$value")
    shown+=("$value  -- $rest")
  done
  (( \${#values} )) || return 1
  local -a how
  [[ \${#values} -eq 1 && \${values[1]} == */ ]] && how=(-S '')
  compadd -U -l -d shown "\${how[@]}" -a values
}
if [[ \${funcstack[1]} == _orch ]]; then
  _orch "$@"
else
  compdef _orch orch
fi
`;

const fish = `# fish completion for orch. Use it now: orch completion fish | source
# For every shell: orch completion fish > ~/.config/fish/completions/orch.fish
function __orch_complete
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    for line in (command orch __complete -- $words[2..-1] "$now" 2>/dev/null)
        set -l parts (string split -m 1 \\t -- $line)
        if test "$parts[1]" = ":path"
            set -l typed (string replace -- "$parts[2]" "" "$now")
            for file in (__fish_complete_path "$typed")
                echo "$parts[2]$file"
            end
        else
            echo $line
        end
    end
end
complete -c orch -f -a '(__orch_complete)'
`;

const pwsh = `# PowerShell completion for orch. Use it now: orch completion pwsh | Out-String | Invoke-Expression
# For every shell: put that line into $PROFILE
Register-ArgumentCompleter -Native -CommandName orch -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @()
    foreach ($element in $commandAst.CommandElements) {
        if ($element.Extent.StartOffset -lt $cursorPosition) { $words += $element.ToString() }
    }
    $words = @($words | Select-Object -Skip 1)
    # An empty word does not arrive at a program under older versions.
    if ($wordToComplete -eq '') { $words += '${emptyWord}' }
    $program = Get-Command orch -CommandType @('Application', 'ExternalScript') -ErrorAction SilentlyContinue | Select-Object -First 1
    if ($null -eq $program) { return }
    & $program __complete -- @words 2>$null | ForEach-Object {
        $value, $summary = $_ -split "\`t", 2
        if ($value -eq ':path') {
            Get-ChildItem -Path "$($wordToComplete.Substring($summary.Length))*" -ErrorAction SilentlyContinue |
                ForEach-Object { [System.Management.Automation.CompletionResult]::new("$summary$($_.Name)") }
        }
        else {
            $shown = if ($summary) { $summary } else { $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $shown)
        }
    }
}
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish, pwsh };
