// Debian's Chromium, kept to the loopback address.
import fs from "node:fs";
import { type Browser, type BrowserContext, chromium } from "playwright-core";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export function hasBrowser(): boolean {
  return fs.existsSync(CHROMIUM);
}

/** `language`: as if the editor's language pack of it were installed; the editor itself stays English without one. */
export async function launchBrowser(
  language?: string,
): Promise<{ readonly browser: Browser; readonly context: BrowserContext }> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1,
    locale: "en-US",
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await context.route(
    (url) => url.protocol.startsWith("http") && url.hostname !== "127.0.0.1",
    (route) => route.abort(),
  );
  if (language !== undefined)
    await context.addInitScript(`globalThis._VSCODE_NLS_LANGUAGE = ${JSON.stringify(language)};`);
  return { browser, context };
}
