import { execFileSync } from 'node:child_process';
import puppeteer, { type Browser } from 'puppeteer-core';

/** Debian's Chromium, or the one that `CHROMIUM` names. */
export function openBrowser(): Promise<Browser> {
  const program = process.env.CHROMIUM ?? 'chromium';
  const file = execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
  return puppeteer.launch({ executablePath: file, args: ['--no-sandbox', '--disable-gpu'] });
}

/** Whether the list begins with a request that was sent again: until it is read anew, others are in it. */
export const showsRetried =
  "(document.querySelector('.request-attempts')?.textContent ?? '').includes('attempts')";
