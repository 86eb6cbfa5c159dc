// The parts of VS Code's workbench that the tests touch, by the selectors that held.
import fs from "node:fs";
import path from "node:path";
import type { BrowserContext, FrameLocator, Locator, Page } from "playwright-core";

const statusId = "orch.orch.status";

export class Workbench {
  readonly page: Page;
  readonly #artifacts: string;

  constructor(page: Page, artifacts: string) {
    this.page = page;
    this.#artifacts = artifacts;
  }

  static async open(context: BrowserContext, url: string, artifacts: string): Promise<Workbench> {
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    page.setDefaultNavigationTimeout(180_000);
    await page.goto(url);
    await page.locator(".monaco-workbench").waitFor();
    await page.locator('.statusbar [id="status.notifications"]').waitFor();
    return new Workbench(page, artifacts);
  }

  /**
   * Reloads the window; resolves once the workbench and our extension are there again. By the editor's own command: it
   * keeps what is open first, which a page that is just loaded anew may not.
   */
  async reload(): Promise<void> {
    await this.openPalette("Developer: Reload Window");
    const row = this.quickInput.locator(".quick-input-list .monaco-list-row").first();
    await row.locator(".label-name").getByText("Developer: Reload Window", { exact: true }).waitFor();
    const loaded = this.page.waitForEvent("load");
    await row.click();
    await loaded;
    await this.page.locator(".monaco-workbench").waitFor();
    await this.statusSays(/Orch/);
  }

  get quickInput(): Locator {
    return this.page.locator(".quick-input-widget");
  }

  get quickText(): Locator {
    return this.quickInput.locator('input[type="text"]');
  }

  /** Opens the palette and picks the command whose label is `title`. */
  async runCommand(title: string): Promise<void> {
    // By its whole label: what the palette puts first is what was used last, or a longer title.
    const row = this.quickInput
      .locator(".quick-input-list .monaco-list-row")
      .filter({ has: this.page.locator(".label-name").getByText(title, { exact: true }) })
      .first();
    // The palette lists what was there when it opened: an extension that arrives meanwhile is seen the next time.
    for (let tries = 0; ; tries += 1) {
      const there = await this.#typeCommand(title)
        .then(() => row.waitFor({ timeout: 4000 }))
        .then(
          () => true,
          () => false,
        );
      if (there) break;
      await this.page.keyboard.press("Escape");
      if (tries === 10) throw new Error(`the palette offers no ${title}`);
    }
    await row.click();
    await this.page.mouse.move(900, 500); // away from what would show a hover
    // Closed, or taken by the command's own picker.
    await this.page.waitForFunction(
      `(() => {
        const widget = document.querySelector(".quick-input-widget");
        const typed = widget?.querySelector('input[type="text"]')?.value;
        return !widget || widget.style.display === "none" || typed !== ${JSON.stringify(`>${title}`)};
      })()`,
    );
  }

  /** Opens the palette with `words` typed, for as often as something that is still opening closes it again. */
  async openPalette(words: string): Promise<void> {
    for (let tries = 0; tries < 10; tries += 1) {
      const typed = await this.#typeCommand(words).then(
        () => true,
        () => false,
      );
      if (typed) return;
    }
    throw new Error("the palette does not stay open");
  }

  /** Something that takes the focus (an editor that opens late) closes the palette under the typing; the caller tries again. */
  async #typeCommand(title: string): Promise<void> {
    await this.page.keyboard.press("F1");
    await this.quickText.waitFor({ state: "visible", timeout: 8000 });
    await this.quickText.fill(`>${title}`, { timeout: 4000 });
  }

  /** Which of `labels` the palette offers. It draws only the rows in sight, so each is asked for by itself. */
  async offered(labels: readonly string[]): Promise<readonly string[]> {
    await this.openPalette("");
    const found: string[] = [];
    const rows = this.quickInput.locator(".quick-input-list .monaco-list-row");
    for (const label of labels) {
      await this.quickText.fill(`>${label}`);
      // Something is always offered: a similar command, or the line that says there is none.
      await rows.first().waitFor();
      await this.page.waitForTimeout(250);
      if ((await rows.locator(".label-name").allInnerTexts()).includes(label)) found.push(label);
    }
    return found;
  }

  /** Types into the open input box or picker and accepts. */
  async answer(text: string): Promise<void> {
    await this.quickText.waitFor({ state: "visible" });
    await this.quickText.fill(text);
    await this.page.keyboard.press("Enter");
  }

  async pick(label: string | RegExp): Promise<void> {
    await this.quickInput.locator(".quick-input-list .monaco-list-row", { hasText: label }).first().click();
  }

  /** Resolves once the open picker or box has this title. */
  async titled(title: string | RegExp): Promise<void> {
    await this.quickInput.locator(".quick-input-title", { hasText: title }).waitFor();
  }

  get status(): Locator {
    return this.page.locator(`.statusbar [id="${statusId}"]`);
  }

  /** Waits until the status bar item's text fits; the text that fitted. */
  async statusSays(words: RegExp, timeoutMs = 300_000): Promise<string> {
    const look = `new RegExp(${JSON.stringify(words.source)}).test(document.getElementById("${statusId}")?.textContent ?? "")`;
    await this.page.waitForFunction(look, undefined, { timeout: timeoutMs, polling: 25 });
    return this.status.innerText();
  }

  /** Keeps every text that the status bar item shows from now on. */
  async watchStatus(): Promise<void> {
    await this.page.evaluate(`(() => {
      window.orchSeen = [];
      const look = () => {
        const text = document.getElementById("${statusId}")?.textContent ?? "";
        if (text !== "" && window.orchSeen.at(-1) !== text) window.orchSeen.push(text);
      };
      new MutationObserver(look).observe(document.querySelector(".statusbar"), { subtree: true, childList: true, characterData: true });
      look();
    })()`);
  }

  async statusesSeen(): Promise<readonly string[]> {
    return this.page.evaluate("window.orchSeen");
  }

  toast(text: string | RegExp): Locator {
    return this.page.locator(".notifications-toasts .notification-list-item", { hasText: text });
  }

  async pressInToast(text: string | RegExp, button: string): Promise<void> {
    await this.toast(text).first().locator(".monaco-button", { hasText: button }).click();
  }

  async clearToasts(): Promise<void> {
    await this.runCommand("Notifications: Clear All Notifications");
  }

  tab(label: string | RegExp): Locator {
    return this.page.locator(".tabs-container .tab", { hasText: label });
  }

  tree(label: string | RegExp): Locator {
    return this.page.locator(".pane-body .monaco-list-row", { hasText: label });
  }

  /** Opens the context menu of `at` and waits for `item` in it; everything that it offers. */
  async menuOf(at: Locator, item: string): Promise<readonly string[]> {
    await at.click({ button: "right" });
    const items = this.page.locator(".monaco-menu .action-label");
    await items.filter({ hasText: item }).first().waitFor();
    return (await items.allInnerTexts()).filter((text) => text !== "");
  }

  async pickInMenu(item: string): Promise<void> {
    await this.page.locator(".monaco-menu .action-label").filter({ hasText: item }).first().click();
  }

  /** The new side of the diff that is looked at, with these words in it. */
  newSide(words: string | RegExp): Locator {
    return this.page.locator(".monaco-diff-editor .editor.modified .view-lines", { hasText: words });
  }

  get diffEditors(): Locator {
    return this.page.locator(".monaco-diff-editor");
  }

  webview(): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  }

  /** Sends one chat request; resolves with the text of the answer once `expected` is in it. */
  async askChat(text: string, expected: string | RegExp): Promise<string> {
    const part = this.page.locator(".interactive-input-part").first();
    if (!(await part.isVisible())) await this.page.keyboard.press("Control+Alt+i");
    await part.locator(".monaco-editor .view-lines").first().click();
    await part.locator(".monaco-editor.focused").first().waitFor();
    await this.page.keyboard.type(text, { delay: 15 });
    await this.page.keyboard.press("Escape"); // closes the completion list of participants
    await this.page.keyboard.press("Enter");
    const answer = this.page.locator(".interactive-response").last();
    await answer.getByText(expected).first().waitFor();
    return answer.innerText();
  }

  async shot(name: string): Promise<void> {
    fs.mkdirSync(this.#artifacts, { recursive: true });
    await this.page.screenshot({ path: path.join(this.#artifacts, `${name}.png`) });
  }
}
