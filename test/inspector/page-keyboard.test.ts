import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { openBrowser } from '../../tools/pictures/inspector/browser.ts';
import { openTab, printTabs, shows } from './tabs.ts';

type Library = typeof import('headgate');
type InspectorModule = typeof import('headgate/inspector');
type Limiter = ReturnType<Library['createLimiter']>;

const built = (file: string) =>
  import(pathToFileURL(join(inject('packageFolder'), 'dist', file)).href);

let library: Library;
let browser: Browser;
let page: Page;
let faults: string[];
let inspector: Awaited<ReturnType<InspectorModule['startInspector']>>;
let limiters: Limiter[] = [];

beforeAll(async () => {
  library = await built('index.js');
  browser = await openBrowser();
});

afterAll(() => browser?.close());

beforeEach(async () => {
  const { startInspector }: InspectorModule = await built('inspector/index.js');
  inspector = await startInspector({ port: 0, controls: true });
  ({ page, faults } = await openTab(browser));
});

afterEach(async (context) => {
  await printTabs(context, browser, faults);
  await page.close();
  await inspector.close();
  for (const limiter of limiters) limiter.close({ waiting: 'reject' });
});

/** Opens the page with limiters of these names; each has ended three requests. */
async function open(width: number, ...names: string[]): Promise<Limiter> {
  limiters = names.map((name) => library.createLimiter({ name, concurrency: 2 }));
  for (const limiter of limiters) await end(limiter, 3);
  await page.setViewport({ width, height: 900 });
  await page.goto(inspector.url);
  await page.waitForSelector('.request-line');
  const [first] = limiters;
  if (first === undefined) throw new Error('no name was given');
  return first;
}

async function end(limiter: Limiter, requests: number): Promise<void> {
  for (let request = 0; request < requests; request += 1) await limiter.run(async () => 1);
}

/** Failed requests are all kept, of those that succeed at once a sample is. */
async function fail(limiter: Limiter, requests: number): Promise<void> {
  for (let request = 0; request < requests; request += 1) {
    await limiter.run(() => Promise.reject(new Error('no'))).catch(() => {});
  }
}

/** Focuses an element as Tab does, and presses a key. */
async function press(selector: string, key: 'Enter' | 'Escape' = 'Enter'): Promise<void> {
  await page.focus(selector);
  await page.keyboard.press(key);
}

const focused = (selector: string) =>
  page.waitForFunction(`document.activeElement.matches(${JSON.stringify(selector)})`);

const hash = () => page.evaluate('location.hash').then(String);

describe('the focus', () => {
  it('goes to the limiter by the skip link, and the open request stays open', async () => {
    await open(1280, 'skips');
    await press('.request-line');
    await page.waitForSelector('.request-detail');
    const address = await hash();
    await press('.skip');
    await focused('main');
    expect(await hash()).toBe(address);
    expect(await page.$('.request-detail')).not.toBeNull();
  });

  it('keeps its row while newer requests end, and the list goes on after it', async () => {
    const limiter = await open(1280, 'rows');
    await page.keyboard.press('Tab');
    await page.focus('.request-line');
    await shows(page, 'section', 'The list stands still');
    await fail(limiter, 25);
    await shows(page, '.figure', 'Failed25');
    await shows(page, '.request-name', '#2');
    await focused('.request-line');
    await page.focus('.steps button');
    await shows(page, '.request-name', '#27');
  });

  it('keeps the row of a request that was opened by its address and is not listed', async () => {
    const limiter = await open(1280, 'linked');
    await press('.request-line');
    await page.waitForSelector('.request-detail');
    await fail(limiter, 25);
    await page.reload();
    await focused('.request.is-open .request-line');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.request-detail', { hidden: true });
    await focused('.request-line');
  });

  it('goes from a link to the request that it opens', async () => {
    await open(1280, 'links');
    await press('.request-line');
    await page.waitForSelector('.request-detail a');
    const id = (await hash()).match(/request=(\d+)/)?.[1];
    await page.evaluate(`
      const link = document.querySelector('.request-detail a');
      link.href = link.hash.replace(/\\d+$/, (id) => id - 1);
    `);
    await press('.request-detail a');
    await focused(`#request-${Number(id) - 1} .request-line`);
  });

  it('goes to the live range when the button that chose it goes away', async () => {
    await open(1280, 'ranges');
    await press('button[aria-label="Zoom in"]');
    await page.waitForSelector('.back');
    await press('.back');
    await page.waitForSelector('.back', { hidden: true });
    await focused('input[name=window]:checked');
  });

  it('goes to the limiter when a notice is closed', async () => {
    await open(1280, 'notices');
    await page.evaluate("location.hash = '#run=1&request=1'");
    await page.waitForSelector('[role=alert] button');
    await press('[role=alert] button');
    await page.waitForSelector('[role=alert]', { hidden: true });
    await focused('main');
  });

  it('stays on the button that set a limit', async () => {
    const limiter = await open(1280, 'sets');
    await page.click('.setting input', { count: 3 });
    await page.keyboard.type('4');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await shows(page, '[role=status]', 'Done.');
    expect(limiter.snapshot().concurrency.limit).toBe(4);
    await page.waitForSelector('.setting button[aria-disabled=true]');
    await focused('.setting button[aria-label^="Set "]');
  });

  it('goes back to the button of the list, in a narrow window, by Enter and Escape', async () => {
    await open(400, 'first', 'second');
    for (const key of ['Enter', 'Escape'] as const) {
      await press('.gates-toggle');
      await page.waitForSelector('.gates.is-open');
      await press('li:last-child > .gate', key);
      await page.waitForSelector('.gates:not(.is-open)');
      await focused('.gates-toggle');
    }
  });
});

describe('a screen reader', () => {
  it('is not told of each number', async () => {
    const limiter = await open(1280, 'counts');
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const task = () => finished;
    for (let request = 0; request < 4; request += 1) limiter.run(task).catch(() => {});
    await shows(page, '.headline', '2 wait: all 2 slots are taken.');
    await page.reload();
    await shows(page, 'main > section [role=status]', 'counts: Held back.');
    const told = () =>
      page.$$eval('main [aria-live], main [role=status]', (all) =>
        all.map(({ textContent }) => textContent).join(''),
      );
    const before = await told();
    limiter.run(task).catch(() => {});
    await shows(page, '.headline', '3 wait');
    expect(['', before]).toContain(await told());
    // The next test's page would show this limiter while its requests run.
    finish();
    await limiter.drain();
  });
});

describe('nothing is lost', () => {
  it('at 400 px: the program is named', async () => {
    await open(400, 'narrow');
    const seen = await page.$eval('.program', (each) => ({
      isSeen: each.checkVisibility({ visibilityProperty: true }),
      isWhole: each.scrollWidth <= each.clientWidth,
    }));
    expect(seen).toEqual({ isSeen: true, isWhole: true });
  });

  it.each(['light', 'dark'])('of the contrast of the last state, %s', async (value) => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
    await open(1280, 'ends');
    await inspector.close();
    await page.waitForSelector('main.is-stale');
    const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
    await page.evaluate(await readFile(axe, 'utf8'));
    const findings = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
      const { violations } = await axe.run({ runOnly: ['color-contrast'] });
      return violations.flatMap(({ nodes }) => nodes.map(({ html }) => html));
    });
    expect(findings).toEqual([]);
  });

  it.each([
    ['light', 'rgb(81, 96, 110)'],
    ['dark', 'rgb(163, 177, 189)'],
  ])('of the contrast of the filter, %s', async (value, colour) => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
    await open(1280, ...Array.from({ length: 8 }, (_, each) => `limiter ${each}`));
    const found = await page.evaluate(`
      const quiet = getComputedStyle(document.querySelector('.filter'), '::placeholder');
      [quiet.color, quiet.opacity];
    `);
    expect(found).toEqual([colour, '1']);
  });
});
