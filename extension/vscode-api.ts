import type * as vscode from "vscode";

/** The editor's API. Only main.ts imports it as a value; every other file is handed it, so that tests can hand a fake. */
export type Vscode = typeof vscode;
