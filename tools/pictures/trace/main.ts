/** Draws the trace of one request of a real run: `npm run pictures:trace`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawTrace } from './draw.ts';
import { tracedRun } from './run.ts';

const FILE = join('docs', 'images', 'trace.svg');

const svg = drawTrace(await tracedRun());
writeFileSync(FILE, svg);
console.log(FILE, `${Math.round(svg.length / 1_000)} kB`);
