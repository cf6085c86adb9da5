/**
 * Takes the documentation's pictures of the inspector, from a real pipeline:
 * `npm run pictures:docs`. Look at them before they are committed.
 */
import { fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openBrowser, showsRetried } from './browser.ts';

const FOLDER = join('docs', 'images');
const SCENE = 'storm';
const RUN_MS = 25_000;
/** The time until an opened request is drawn. */
const SETTLE_MS = 1_500;
const WIDTH = 1_180;

const scenes = fileURLToPath(new URL('main.js', import.meta.url));
const player = fork(scenes, ['--play', SCENE]);
const browser = await openBrowser();
try {
  const url = await new Promise<string>((resolve, reject) => {
    player.once('message', (message) => resolve(String(message)));
    player.once('exit', (code) => reject(new Error(`${SCENE} ended with ${code}`)));
  });
  const page = await browser.newPage();
  await page.setViewport({ width: WIDTH, height: 1_010 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  await page.goto(url);
  await page.waitForSelector('.mark');
  await sleep(RUN_MS);
  await page.screenshot({ path: shown('inspector.png') });
  await page.click('input[name=outcome][value=retried]');
  await page.waitForFunction(showsRetried);
  await page.click('.request-line');
  await page.mouse.move(0, 0);
  await sleep(SETTLE_MS);
  const requests = await page.$('section[aria-labelledby=requests-title]');
  if (requests === null) throw new Error('the page has no list of requests');
  await requests.screenshot({ path: shown('inspector-request.png') });
} finally {
  await browser.close();
  player.kill();
}
for (const name of ['inspector.png', 'inspector-request.png']) {
  console.log(shown(name), `${Math.round(statSync(shown(name)).size / 1_000)} kB`);
}

function shown(name: string): string {
  return join(FOLDER, name);
}
