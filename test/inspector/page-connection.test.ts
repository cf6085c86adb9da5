import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { openBrowser } from '../../tools/pictures/inspector/browser.ts';
import { openTab, printTabs, shows } from './tabs.ts';

type Library = typeof import('headgate');
type InspectorModule = typeof import('headgate/inspector');

const built = (file: string) =>
  import(pathToFileURL(join(inject('packageFolder'), 'dist', file)).href);

let library: Library;
let startInspector: InspectorModule['startInspector'];
let browser: Browser;
let page: Page;
let inspector: Awaited<ReturnType<InspectorModule['startInspector']>>;
let faults: string[];
const limiters: ReturnType<Library['createLimiter']>[] = [];

beforeAll(async () => {
  library = await built('index.js');
  ({ startInspector } = (await built('inspector/index.js')) as InspectorModule);
  browser = await openBrowser();
});

afterAll(() => browser?.close());

beforeEach(async () => {
  inspector = await startInspector({ port: 0 });
  ({ page, faults } = await openTab(browser));
  await page.setViewport({ width: 1280, height: 900 });
});

afterEach(async (context) => {
  await printTabs(context, browser, faults);
  await page.close();
  await inspector.close();
  for (const limiter of limiters.splice(0)) limiter.close();
});

function limiterOf(name: string) {
  const limiter = library.createLimiter({ name });
  limiters.push(limiter);
  return limiter;
}

async function choose(name: string): Promise<void> {
  await shows(page, '.gate-name', name);
  const names = await page.$$eval('.gate-name', (all) => all.map((each) => each.textContent));
  const gates = await page.$$('.gate');
  await gates[names.indexOf(name)]?.click();
  await shows(page, 'h1', name);
}

/** Another inspector at the same address, as after a restart of the program. */
async function restart(): Promise<void> {
  const port = Number(new URL(inspector.url).port);
  await inspector.close();
  // A page that was just connecting does not learn of the end.
  const text = `document.querySelector('.link-state').textContent`;
  await page.waitForFunction(`/Ended|Not reachable/.test(${text})`);
  inspector = await startInspector({ port });
}

const succeeded = () =>
  page.$$eval('.figure', (all) =>
    all.map((each) => each.textContent).find((text) => /^Succ/.test(text)),
  );

it('after a restart the page shows the limiter of the same name', async () => {
  const [first, chosen] = ['first', 'chosen', 'third'].map(limiterOf);
  await page.goto(inspector.url);
  await choose('chosen');
  first?.close();
  await restart();
  await shows(page, '.link-state', 'Live');
  await shows(page, 'h1', 'chosen');
  await chosen?.run(async () => 1);
  await page.waitForSelector('.request-line');
  expect(await succeeded()).toBe('Succeeded1');
  expect(await page.$('.notice')).toBeNull();
});

it('after a reload the page shows the limiter that was chosen, or another one if it is gone', async () => {
  const busy = library.createLimiter({ name: 'busy', concurrency: 1 });
  const ends: (() => void)[] = [];
  for (let request = 0; request < 3; request += 1) {
    busy.run(() => new Promise<void>((end) => ends.push(end))).catch(() => {});
  }
  const chosen = limiterOf('chosen');
  await page.goto(inspector.url);
  await shows(page, 'h1', 'busy');
  await choose('chosen');
  await page.reload();
  await page.waitForSelector('h1');
  expect(await page.$eval('h1', (title) => title.textContent)).toBe('chosen');
  chosen.close();
  await shows(page, '.notice', 'not kept any more');
  await page.reload();
  await shows(page, 'h1', 'busy');
  busy.close({ waiting: 'reject' });
  for (const end of ends) end();
  // The next test is to find no limiter.
  await busy.drain();
});

it('after a restart without that limiter the page shows another one, until it is made', async () => {
  const chosen = limiterOf('chosen');
  limiterOf('other');
  await page.goto(inspector.url);
  await choose('chosen');
  chosen.close();
  await restart();
  await shows(page, 'h1', 'other');
  await shows(page, '.link-state', 'Live');
  limiterOf('chosen');
  await shows(page, 'h1', 'chosen');
});

it('the last state of a limiter that is not kept is not called its present one', async () => {
  const unused = limiterOf('unused');
  limiterOf('other');
  await page.goto(inspector.url);
  await choose('unused');
  unused.close();
  await shows(page, '.notice', 'This limiter or stream is not kept any more.');
  await choose('other');
  await page.waitForSelector('.notice', { hidden: true });
  expect(faults).toEqual([]);
});

it('a browser can show the page in more tabs than it makes connections', async () => {
  await limiterOf('shared').run(async () => 1);
  const tabs: Page[] = [];
  for (let tab = 0; tab < 8; tab += 1) {
    const opened = await openTab(browser);
    tabs.push(opened.page);
    await opened.page.goto(inspector.url);
    await opened.page.waitForSelector('.request-line');
  }
  for (const tab of tabs) await tab.close();
});

it('an answer that ends too early is no error, and is asked for again', async () => {
  await limiterOf('cut').run(async () => 1);
  let cuts = 0;
  page.on('request', (request) => {
    if (cuts < 2 && request.url().includes('/requests?')) {
      cuts += 1;
      void request.respond({ contentType: 'application/json', body: '[{"id":' });
    } else void request.continue();
  });
  await page.setRequestInterception(true);
  await page.goto(inspector.url);
  await page.waitForSelector('.request-line');
  expect(cuts).toBe(2);
  expect(faults).toEqual([]);
});

it('the page works in a browser that blocks the data of sites', async () => {
  ['first', 'second'].map(limiterOf);
  await page.evaluateOnNewDocument(`
    Object.defineProperty(window, 'sessionStorage', {
      get() { throw new DOMException('denied', 'SecurityError'); },
    })`);
  await page.goto(inspector.url);
  await choose('second');
  await choose('first');
  expect(faults).toEqual([]);
});
