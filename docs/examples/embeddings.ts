import { byteEstimate, chunkBy, throttle } from 'headgate';
import { from, mergeMap } from 'rxjs';

// Stands for an embeddings API that takes many texts at once.
const embed = async (texts: string[]) => texts.map((text) => [text.length]);

from(['ant', 'bumblebee', 'cat', 'dog', 'elephant'])
  .pipe(
    byteEstimate(),
    chunkBy({ maxItems: 2, maxBytes: 1_000_000 }),
    throttle(embed, { concurrency: 8, ordered: true }),
    mergeMap((vectors) => vectors),
  )
  .subscribe(([length]) => console.log(length)); // 3, 9, 3, 3, 8
