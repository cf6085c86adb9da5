import { execFileSync } from 'node:child_process';
import puppeteer, { type Browser } from 'puppeteer-core';

/** The program in `CHROMIUM`, or else Debian's Chromium. */
export function openBrowser(): Promise<Browser> {
  const program = process.env.CHROMIUM ?? 'chromium';
  const file = execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
  return puppeteer.launch({ executablePath: file, args: ['--no-sandbox', '--disable-gpu'] });
}

/** Whether the list begins with a retried request, which is so after the list was read again. */
export const showsRetried =
  "(document.querySelector('.request-attempts')?.textContent ?? '').includes('attempts')";
