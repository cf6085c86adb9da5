import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, HTTPRequest, Page } from 'puppeteer-core';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  vi,
} from 'vitest';
import { openBrowser } from '../../tools/pictures/inspector/browser.ts';
import { openTab, printTabs, shows } from './tabs.ts';

type Library = typeof import('headgate');
type InspectorModule = typeof import('headgate/inspector');

const folder = inject('packageFolder');
const built = (file: string) => import(pathToFileURL(join(folder, 'dist', file)).href);

let library: Library;
let inspectors: InspectorModule;
let browser: Browser;
let page: Page;
let inspector: Awaited<ReturnType<InspectorModule['startInspector']>>;
/** What the page has said of anything wrong, and asked of other servers. */
let faults: string[];
const ends: (() => void)[] = [];

beforeAll(async () => {
  library = await built('index.js');
  inspectors = await built('inspector/index.js');
  browser = await openBrowser();
});

afterAll(() => browser?.close());

beforeEach(async () => {
  inspector = await inspectors.startInspector({ port: 0, controls: true });
  ({ page, faults } = await openTab(browser));
  page.on('request', (request) => {
    const { origin } = new URL(inspector.url);
    if (!request.url().startsWith(origin)) faults.push(`asked ${request.url()}`);
  });
});

afterEach(async (context) => {
  await printTabs(context, browser, faults);
  await page.close();
  await inspector.close();
  // A request that ends lets another run, which is to end, too.
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end();
    await new Promise(setImmediate);
  }
});

async function open(width = 1280, theme = 'light', url = inspector.url): Promise<void> {
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.goto(url);
}

/** The figures below the headline, by name. */
function figures(): Promise<Record<string, string>> {
  return page.$$eval('.figure', (all) =>
    Object.fromEntries(
      all.map((each) => [
        each.querySelector('dt')?.textContent ?? '',
        each.querySelector('dd')?.textContent ?? '',
      ]),
    ),
  );
}

/** A limiter of two slots: so many requests have ended, two run, and so many wait. */
async function busyLimiter(name: string, waiting: number) {
  const limiter = library.createLimiter({ name, concurrency: 2, requestsPerMinute: 1_000 });
  await limiter.run(async () => 1);
  await limiter.run(() => Promise.reject(new Error('no'))).catch(() => {});
  const task = () =>
    new Promise<void>((resolve) => {
      ends.push(resolve);
    });
  for (let request = 0; request < 2 + waiting; request += 1) {
    limiter.run(task, { bytes: 10 }).catch(() => {});
  }
  ends.push(() => limiter.close());
  return limiter;
}

describe('the page', () => {
  it('shows the numbers of snapshot(), and what binds in words', async () => {
    const limiter = await busyLimiter('numbers', 5);
    await open();
    await shows(page, 'h1', 'numbers');
    await shows(page, '.headline', '5 wait: all 2 slots are taken.');
    const { waiting, concurrency, ended } = limiter.snapshot();
    expect(await figures()).toMatchObject({
      Waiting: String(waiting),
      'In flight': String(concurrency.inFlight),
      Succeeded: String(ended.ok),
      Failed: String(ended.failed),
      '429s': '0',
    });
    await shows(page, '.station.is-held', 'Slots');
    expect(faults).toEqual([]);
  });

  it('has a line for requests that fail in the chart of requests', async () => {
    await busyLimiter('failing', 0);
    await open();
    await shows(page, '.chart.is-wide .legend-item', 'failed');
    expect(faults).toEqual([]);
  });

  it('tells of another binding gate within four frames, which is a second', async () => {
    const limiter = await busyLimiter('changes', 0);
    const frames: string[] = [];
    let wanted = Number.POSITIVE_INFINITY;
    await new Promise<void>((resolve, reject) => {
      const request = get(`${new URL(inspector.url).origin}/events`, (response) => {
        let text = '';
        response.on('data', (data: Buffer) => {
          text += data;
          const events = text.split('\n\n');
          text = events.pop() ?? '';
          for (const event of events.filter((each) => each.startsWith('event: frame'))) {
            frames.push(event);
            if (frames.length === 2) {
              for (let more = 0; more < 3; more += 1) limiter.run(async () => 1).catch(() => {});
              wanted = frames.length;
            }
            if (event.includes('"binding":"concurrency"')) {
              request.destroy();
              resolve();
            }
          }
        });
      });
      request.on('error', reject);
    });
    expect(frames.length - wanted).toBeLessThanOrEqual(4);
  });

  it('changes limits with the token, and not without', async () => {
    const limiter = await busyLimiter('controlled', 5);
    await open();
    await shows(page, '.setting', 'Requests in flight');
    expect(await page.evaluate('location.hash')).toBe('');
    await page.click('.setting input', { count: 3 });
    await page.type('.setting input', '4');
    await page.click('.setting button');
    await shows(page, '[role=status]', 'Done.');
    expect(limiter.snapshot().concurrency.limit).toBe(4);
    await shows(page, '.headline', '3 wait: all 4 slots are taken.');

    // Each tab has a session storage of its own, so that this one has no token.
    const { page: plain } = await openTab(browser);
    await plain.goto(`${new URL(inspector.url).origin}/`);
    await plain.waitForSelector('.setting button');
    const isOff = await plain.$$eval('.controls button, .controls input', (all) =>
      all.every((each) => each.hasAttribute('disabled')),
    );
    expect(isOff).toBe(true);
    const status = await plain.evaluate(async () => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ gate: 1, action: 'drain' });
      return (await fetch('/control', { method: 'POST', headers, body })).status;
    });
    expect(status).toBe(401);
    await plain.close();
    expect(limiter.snapshot().state).toBe('running');
  });

  it('shows where a request waited when its line is opened by keyboard', async () => {
    await busyLimiter('keys', 1);
    await open();
    await page.waitForSelector('.request-line');
    await page.focus('.request-line');
    await page.keyboard.press('Enter');
    await shows(page, '.request-detail', 'attempt 1 took');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.request-detail', { hidden: true });
    expect(faults).toEqual([]);
  });

  it('shows the workers of a shared key, and that their store is away', async ({
    onTestFinished,
  }) => {
    const { memoryStore } = (await built('advanced.js')) as typeof import('headgate/advanced');
    const store = memoryStore();
    let isCut = false;
    const exchange: typeof store.exchange = (request) => {
      if (isCut) throw new Error('the way to the store is cut');
      return store.exchange(request);
    };
    for (const [name, requests] of [
      ['build-7:1', 9],
      ['build-7:2', 4],
    ] as const) {
      const shared = { ...store, exchange, worker: name };
      const limiter = library.createLimiter({ name, concurrency: 10, shared });
      const task = () => new Promise<void>((done) => ends.push(done));
      for (let request = 0; request < requests; request += 1) limiter.run(task).catch(() => {});
      ends.push(() => limiter.close({ waiting: 'reject' }));
      // The store frees its slots some turns later: the next test is to find no limiter.
      onTestFinished(() => limiter.drain());
    }
    await open(400);
    await shows(page, '#fleet-title', 'Workers of this key');
    await shows(page, '.fleet-line', '2 workers work on this key');
    // The rows are asked for every two seconds; the line above knows of a worker sooner.
    for (const name of ['build-7:1', 'build-7:2']) await shows(page, '.fleet tbody tr', name);
    const rows = await page.$$eval('.fleet tbody tr', (all) => all.map((row) => row.textContent));
    expect(rows).toHaveLength(2);
    expect(rows.filter((row) => row.includes('this one'))).toHaveLength(1);
    expect(await page.$('.fleet.is-away')).toBeNull();
    isCut = true;
    await page.waitForSelector('.fleet.is-away');
    await shows(page, '.fleet-line', 'Nothing is sent until it answers.');
    isCut = false;
    await page.waitForSelector('.fleet:not(.is-away)');
  });

  it('says what is missing where there is nothing', async () => {
    await open();
    await shows(page, 'h1', 'No limiter and no stream yet');
    expect(faults).toEqual([]);
  });

  it('says that a limiter has no requests any more where they ended long ago', async ({
    onTestFinished,
  }) => {
    const { now } = Date;
    let laterMs = 0;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + laterMs);
    onTestFinished(() => clock.mockRestore());
    await inspector.close();
    inspector = await inspectors.startInspector({ port: 0 });
    const quiet = library.createLimiter({ name: 'a quiet one' });
    await open();
    await shows(page, 'h1', 'a quiet one');
    await shows(page, '.empty', 'No request has ended yet.');
    await quiet.run(async () => 1);
    await page.waitForSelector('.request-line');
    laterMs = 16 * 60_000;
    await shows(page, '.empty', 'None of its requests is kept any more');
    quiet.close();
  });

  it('says of no request that it is gone before the requests are read', async () => {
    const limiter = library.createLimiter({ name: 'slow to read' });
    await limiter.run(async () => 1);
    const held: HTTPRequest[] = [];
    let isHeld = true;
    page.on('request', (request) => {
      if (isHeld && request.url().includes('/requests?')) held.push(request);
      else void request.continue();
    });
    await page.setRequestInterception(true);
    await open();
    await shows(page, '.empty', 'Its requests are not read yet.');
    isHeld = false;
    for (const request of held) void request.continue();
    await page.waitForSelector('.request-line');
    limiter.close();
  });

  it('keeps the last state when the inspector ends, and says so', async () => {
    const limiter = library.createLimiter({ name: 'ends', concurrency: 2 });
    await limiter.run(async () => 1);
    await open();
    await shows(page, 'h1', 'ends');
    const waits = [limiter.run(async () => 1), limiter.run(async () => 1)];
    await Promise.all(waits);
    await inspector.close();
    await shows(page, '.notice', 'The program has closed its inspector.');
    expect(await figures()).toMatchObject({ Succeeded: '3' });
    limiter.close();
  });

  it('is no wider than its window with names of 200 characters and 50 limiters', async () => {
    await busyLimiter('n'.repeat(200), 3);
    for (let each = 0; each < 50; each += 1) {
      const limiter = library.createLimiter({ name: `limiter ${each} ${'x'.repeat(each * 4)}` });
      ends.push(() => limiter.close());
    }
    for (const width of [400, 1280]) {
      await open(width);
      await shows(page, 'h1', 'nnnn');
      const tooWide = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(tooWide).toBeLessThanOrEqual(0);
    }
  });

  it.each([
    [1280, 'light'],
    [1280, 'dark'],
    [400, 'light'],
    [400, 'dark'],
  ])('has no serious finding of axe at %i px, %s', async (width, theme) => {
    await busyLimiter('accessible', 5);
    await open(width, theme);
    await shows(page, '.headline', '5 wait');
    await page.waitForSelector('.request-line');
    await page.click('.request-line');
    const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
    await page.evaluate(await readFile(axe, 'utf8'));
    const findings = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
      const { violations } = await axe.run();
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`);
    });
    expect(findings).toEqual([]);
  });
});
