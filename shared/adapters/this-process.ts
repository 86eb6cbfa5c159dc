import process from "node:process";

/** The process this code runs in, as data: the one place outside the command line that looks at it. */
export interface ThisProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly execPath: string;
  readonly pid: number;
}

export function thisProcess(): ThisProcess {
  const { env, platform, execPath, pid } = process;
  return { env, platform, execPath, pid };
}
