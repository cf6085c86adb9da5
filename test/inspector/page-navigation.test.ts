import { once } from 'node:events';
import { createServer, get, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { MOST_READERS } from '../../src/inspector/event-stream.ts';
import { openBrowser } from '../../tools/pictures/inspector/browser.ts';
import { openTab, printTabs, shows } from './tabs.ts';

type Library = typeof import('headgate');
type InspectorModule = typeof import('headgate/inspector');

const built = (file: string) =>
  import(pathToFileURL(join(inject('packageFolder'), 'dist', file)).href);

let library: Library;
let browser: Browser;
let page: Page;
let inspector: Awaited<ReturnType<InspectorModule['startInspector']>>;
let faults: string[];
let limiters: ReturnType<Library['createLimiter']>[] = [];

beforeAll(async () => {
  library = await built('index.js');
  browser = await openBrowser();
});

afterAll(() => browser?.close());

beforeEach(async () => {
  const { startInspector }: InspectorModule = await built('inspector/index.js');
  inspector = await startInspector({ port: 0, controls: true });
  ({ page, faults } = await openTab(browser));
  await page.setViewport({ width: 1280, height: 900 });
});

afterEach(async (context) => {
  await printTabs(context, browser, faults);
  await page.close();
  await inspector.close();
  for (const limiter of limiters) limiter.close();
});

/** Two limiters: nothing waits in either, and requests of both have ended. */
async function usedLimiters() {
  limiters = ['first', 'second'].map((name) => library.createLimiter({ name }));
  for (const limiter of limiters) {
    for (let request = 0; request < 3; request += 1) await limiter.run(async () => 1);
  }
  return limiters;
}

const hash = () => page.evaluate('location.hash').then(String);

describe('the address of one request', () => {
  it('names the one that is open, opens it again after a reload, and is empty once it is closed', async () => {
    await usedLimiters();
    await page.goto(inspector.url);
    await page.waitForSelector('.gate');
    const second = await page.$$('.gate');
    await second[1]?.click();
    await shows(page, 'h1', 'second');
    await page.waitForSelector('.request-line');
    await page.click('.request-line');
    await shows(page, '.request-detail', 'attempt 1 took');
    const name = await page.$eval('.request.is-open .request-name', (each) => each.textContent);
    const address = await hash();
    expect(address).toMatch(/^#run=\d+&request=\d+$/);

    await page.reload();
    await shows(page, 'h1', 'second');
    await shows(page, '.request.is-open .request-name', name ?? '');
    await shows(page, '.request-detail', 'attempt 1 took');
    expect(await hash()).toBe(address);
    // The token was kept: what may be changed can be changed still.
    await page.waitForSelector('.setting input:not([disabled])');

    await page.click('.request.is-open .request-line');
    await page.waitForSelector('.request-detail', { hidden: true });
    expect(await hash()).toBe('');
    expect(faults).toEqual([]);
  });

  it.each([
    ['unknown', (link: string) => link.replace(/request=\d+/, 'request=999999'), 'is not known'],
    ['of another run', (link: string) => link.replace(/run=\d+/, 'run=1'), 'of an earlier run'],
  ])('shows a notice if the request is %s', async (_, change, words) => {
    await usedLimiters();
    await page.goto(inspector.url);
    await page.waitForSelector('.request-line');
    await page.click('.request-line');
    await page.waitForSelector('.request-detail');
    const link = await hash();
    await page.evaluate(`location.hash = ${JSON.stringify(change(link))}`);
    await shows(page, '[role=alert]', words);
    await page.click('[role=alert] button');
    await page.waitForSelector('[role=alert]', { hidden: true });
    expect(await hash()).toBe('');
    expect(faults).toEqual([]);
  });
});

it('the page works below a path of a reverse proxy', async () => {
  await usedLimiters();
  const proxy = createServer(({ url = '', method, headers }, response) => {
    if (!url.startsWith('/tools/headgate/')) return response.writeHead(404).end();
    const target = new URL(url.slice('/tools/headgate/'.length), new URL(inspector.url).origin);
    const forward = request(target, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on('close', () => forward.destroy());
    forward.on('error', () => response.destroy());
    forward.end();
    return undefined;
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  try {
    await page.goto(`http://127.0.0.1:${port}/tools/headgate/`);
    await shows(page, 'h1', 'first');
    await (await page.waitForSelector('.request-line'))?.click();
    await shows(page, '.request-detail', 'attempt 1 took');
    await page.reload();
    await shows(page, '.request-detail', 'attempt 1 took');
    expect(faults).toEqual([]);
  } finally {
    await page.goto('about:blank');
    proxy.closeAllConnections();
    proxy.close();
  }
});

describe('the time lines', () => {
  const range = () => page.$eval('.standing [aria-live]', (each) => each.textContent ?? '');

  it('show a part that is chosen by a drag, stand still, and go back to now', async () => {
    const [first] = await usedLimiters();
    await page.goto(inspector.url);
    // The chart is made anew when it has its lines.
    await shows(page, '.chart.is-wide .legend-item', 'succeeded');
    await page.evaluate("document.querySelector('.chart.is-wide').scrollIntoView()");
    const over = await page.waitForSelector('.chart.is-wide .u-over');
    const box = await over?.boundingBox();
    if (!box) throw new Error('the chart has no place');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, y, { steps: 5 });
    await page.mouse.up();
    await page.waitForSelector('.standing');
    const chosen = await range();
    expect(chosen).toMatch(/^\d\d:\d\d:\d\d to \d\d:\d\d:\d\d$/);
    // Requests that end meanwhile move nothing.
    await first?.run(async () => 1);
    await shows(page, '.figure', '4');
    expect(await range()).toBe(chosen);
    await page.click('.back');
    await page.waitForSelector('.standing', { hidden: true });
    expect(faults).toEqual([]);
  });

  it('zoom, move and go back by keyboard', async () => {
    await usedLimiters();
    await page.goto(inspector.url);
    const press = async (label: string) => {
      await page.focus(`button[aria-label="${label}"]`);
      await page.keyboard.press('Enter');
    };
    await page.waitForSelector('.steps button');
    await press('Zoom in');
    await page.waitForSelector('.standing');
    const zoomed = await range();
    await press('Earlier');
    await page.waitForFunction(
      `document.querySelector('.standing [aria-live]').textContent !== ${JSON.stringify(zoomed)}`,
    );
    await press('Later');
    await page.focus('.back');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.standing', { hidden: true });
    expect(faults).toEqual([]);
  });
});

describe('the last state', () => {
  it('is no longer in the title when the program has gone', async () => {
    await usedLimiters();
    await page.goto(inspector.url);
    await page.waitForFunction(`/: (first|second)$/.test(document.title)`);
    expect(await page.title()).not.toMatch(/^Ended/);
    await inspector.close();
    await page.waitForFunction(`/^Ended: (first|second)$/.test(document.title)`);
    expect(faults.filter((fault) => !fault.includes('ERR_'))).toEqual([]);
  });
});

it('the duration of an hour and of a moment take one line each', async () => {
  const { ManualClock } = (await built('simulator.js')) as typeof import('headgate/simulator');
  const clock = new ManualClock();
  const limiter = library.createLimiter({ name: 'long', clock, attemptTimeoutMs: 7_200_000 });
  limiters = [limiter];
  await limiter.run(async () => 1);
  const long = limiter.run(() => new Promise((done) => clock.setTimer(() => done(1), 3_599_000)));
  await clock.advanceAsync(3_599_000);
  await long;
  await page.goto(inspector.url);
  await shows(page, '.request-time', '59 min 59 s');
  const heights = await page.$$eval('.request-time', (times) =>
    times.map((time) => time.getBoundingClientRect().height),
  );
  expect(heights).toHaveLength(2);
  expect(new Set(heights).size).toBe(1);
});

it('a page that the server refused connects when another one is closed', async () => {
  await usedLimiters();
  const readers = await Promise.all(
    Array.from({ length: MOST_READERS }, async () => {
      const request = get(`${new URL(inspector.url).origin}/events`, { agent: false });
      request.on('error', () => {});
      const [response] = await once(request, 'response');
      response.resume();
      return request;
    }),
  );
  await page.goto(inspector.url);
  await shows(page, '.link-state', 'Not reachable');
  for (const reader of readers) reader.destroy();
  await shows(page, '.link-state', 'Live');
  await page.waitForSelector('.request-line');
});
