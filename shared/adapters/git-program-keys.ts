/**
 * Git's configuration keys that name a program. What the repository's own configuration (or what it includes) sets there
 * has no effect until a person approved key and value; the user's global configuration stays.
 *
 * `instead` is what an unapproved local value is replaced by when the user's own configuration says nothing: a string,
 * or undefined where no verb of ours ever reads the key or another mechanism turns it off (flags, environment).
 */
interface ProgramKey {
  readonly pattern: RegExp;
  readonly instead?: string;
}

/** A three-way text merge by git itself: an empty driver would succeed and drop the other side. */
export const plainMergeDriver = "git merge-file -q --marker-size=%L %A %O %B || exit 1";

const programKeys: readonly ProgramKey[] = [
  { pattern: /^core\.(?:fsmonitor|hookspath|pager|editor|gitproxy)$/ },
  { pattern: /^core\.sshcommand$/, instead: "ssh" },
  { pattern: /^core\.askpass$/, instead: "" },
  { pattern: /^core\.alternaterefscommand$/, instead: ":" },
  { pattern: /^(?:sequence\.editor|diff\.external|interactive\.difffilter|init\.templatedir)$/ },
  { pattern: /^filter\..+\.(?:clean|smudge|process)$/, instead: "" },
  { pattern: /^merge\..+\.driver$/, instead: plainMergeDriver },
  { pattern: /^diff\..+\.(?:command|textconv)$/ },
  { pattern: /^(?:difftool|mergetool|browser|man)\..+\.(?:cmd|path)$/ },
  { pattern: /^(?:alias|pager|sendemail|guitool)\./ },
  { pattern: /^gpg\.(?:openpgp\.)?program$/, instead: "gpg" },
  { pattern: /^gpg\.x509\.program$/, instead: "gpgsm" },
  { pattern: /^gpg\.ssh\.program$/, instead: "ssh-keygen" },
  { pattern: /^gpg\.ssh\.defaultkeycommand$/, instead: "" },
  { pattern: /^credential\.(?:.+\.)?helper$/ },
  { pattern: /^submodule\..+\.update$/ },
  { pattern: /^remote\..+\.(?:uploadpack|receivepack|vcs)$/ },
  { pattern: /^(?:uploadpack\.packobjectshook|gc\.recentobjectshook)$/ },
  { pattern: /^(?:tar\..+\.command|trailer\..+\.(?:command|cmd))$/ },
  { pattern: /^hook\..+\.command$/, instead: "true" },
  { pattern: /^lfs\.(?:.+\.)?standalonetransferagent$/, instead: "" },
  { pattern: /^lfs\.customtransfer\..+\.path$/, instead: "" },
  { pattern: /^lfs\.extension\..+\.(?:clean|smudge)$/, instead: "" },
];

/** The row of a key as `git config --list` prints it: section and variable in lower case. */
export function programKey(key: string): ProgramKey | undefined {
  return programKeys.find(({ pattern }) => pattern.test(key));
}
