/**
 * Prints dead links of the built site, and fails if there are any: the last step of `npm run docs`.
 */
import { join } from 'node:path';
import { deadLinksIn } from './dead-links.ts';

const SITE = join('build', 'docs-site');

const dead = deadLinksIn(SITE);
for (const link of dead) console.error(`dead link: ${link}`);
if (dead.length > 0) process.exitCode = 1;
else console.log(`the site is in ${SITE}`);
