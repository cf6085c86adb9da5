import type { Browser, Page } from 'puppeteer-core';
import type { TestContext } from 'vitest';

/** The longest wait for a page: it ends a hang, and a busy machine must not fail a test. */
const LONGEST_WAIT_MS = 120_000;

/** A tab, and what its page has reported of errors. */
export async function openTab(browser: Browser): Promise<{ page: Page; faults: string[] }> {
  const faults: string[] = [];
  const page = await browser.newPage();
  page.setDefaultTimeout(LONGEST_WAIT_MS);
  page.on('error', (error) => faults.push(`the tab crashed: ${error}`));
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  return { page, faults };
}

/** Waits until one of the selected elements contains the text. */
export async function shows(page: Page, selector: string, text: string): Promise<void> {
  const all = `[...document.querySelectorAll(${JSON.stringify(selector)})]`;
  await page.waitForFunction(
    `${all}.some((each) => each.textContent.includes(${JSON.stringify(text)}))`,
  );
}

/** Prints the text of all tabs if the test has failed: a wait that ended says only its selector. */
export async function printTabs(
  { task }: TestContext,
  browser: Browser,
  faults: readonly string[],
): Promise<void> {
  if (task.result?.state !== 'fail') return;
  for (const page of await browser.pages()) {
    const timeout = new Promise<string>((resolve) => {
      setTimeout(resolve, 5_000, 'the tab does not answer').unref();
    });
    const text = page.evaluate(`document.visibilityState + ': ' + document.body.innerText`);
    const shown = await Promise.race([text.catch(String), timeout]);
    console.error(`${task.name}: ${page.url()} shows ${shown}`);
  }
  console.error(`${task.name}: faults ${faults.join('; ') || 'none'}`);
}
