/**
 * Draws the inspector in each of its states, from real pipelines:
 * `npm run pictures:inspector [scene ...]` puts pictures of 1280 and 400 px, light and dark, into
 * `build/pictures/inspector`. Look at all of them after each change of the page.
 */
import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startInspector } from 'headgate/inspector';
import type { Page } from 'puppeteer-core';
import { openBrowser, showsRetried } from './browser.ts';
import { running, SCENES, type Scene } from './scenes.ts';

const FOLDER = join('build', 'pictures', 'inspector');
const WIDTHS = [1280, 400];
const THEMES = ['light', 'dark'];
/** The number of scenes that run at a time. */
const AT_ONCE = 2;
/** The time until a chart has its new size and colours. */
const SETTLE_MS = 1_200;

/** Runs each scene in its own process, since the inspector shows all limiters of its process. */
async function play(name: string): Promise<void> {
  const scene = sceneOf(name);
  const isOpen = scene.isOpen === true;
  const inspector = await startInspector({ port: 0, controls: isOpen, showValues: isOpen });
  scene.start();
  process.send?.(inspector.url);
  // The scene runs until it is killed or its parent is gone.
  process.on('disconnect', () => process.exit());
  setInterval(() => {}, 60_000);
}

function sceneOf(name: string): Scene {
  const scene = SCENES[name];
  if (scene === undefined) {
    throw new RangeError(`there is no scene ${name}: choose of ${Object.keys(SCENES).join(', ')}`);
  }
  return scene;
}

async function draw(name: string): Promise<void> {
  const scene = sceneOf(name);
  const player = fork(fileURLToPath(import.meta.url), ['--play', name]);
  // Open a browser for each scene, because a page behind another one is not drawn.
  const browser = await openBrowser();
  try {
    const url = await new Promise<string>((resolve, reject) => {
      player.once('message', (message) => resolve(String(message)));
      player.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
    });
    const page = await browser.newPage();
    page.on('pageerror', (error) => console.error(`${name}: ${error}`));
    page.on('console', (message) => {
      if (message.type() === 'error') console.error(`${name}: ${message.text()}`);
    });
    await page.goto(url);
    await running(scene);
    await ready(page, scene, name);
    for (const width of WIDTHS) {
      for (const theme of THEMES) await shoot(page, name, width, theme);
    }
  } finally {
    await browser.close();
    player.kill();
  }
}

async function ready(page: Page, { badge, opensRetry }: Scene, name: string): Promise<void> {
  if (badge !== undefined) {
    const shows = `document.querySelector('.badge')?.textContent === ${JSON.stringify(badge)}`;
    await page.waitForFunction(shows).catch(async () => {
      const shown = await page.$eval('.status-line', (line) => line.textContent);
      console.error(`${name}: ${badge} was expected, shown is ${shown}`);
    });
  }
  if (opensRetry === true) {
    await page.click('input[name=outcome][value=retried]');
    await page.waitForFunction(showsRetried);
    await page.click('.request-line');
  }
}

async function shoot(page: Page, name: string, width: number, theme: string): Promise<void> {
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const tooWide = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  if (Number(tooWide) > 0) console.error(`${name}: ${tooWide} px too wide at ${width}`);
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: join(FOLDER, `${name}-${width}-${theme}.png`), fullPage: true });
}

async function drawAll(names: readonly string[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const left = [...names];
  const draws = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      await draw(name);
      console.log(join(FOLDER, name));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, draws));
}

const [first, ...others] = process.argv.slice(2);
if (first === '--play') await play(others[0] ?? '');
else await drawAll(first === undefined ? Object.keys(SCENES) : [first, ...others]);
