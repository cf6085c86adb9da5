import { throttle } from 'headgate';
import { from } from 'rxjs';

let calls = 0; // Stands for your API client: it turns the first call away.
async function complete(prompt) {
  if (++calls === 1) throw Object.assign(new Error('Too many requests'), { status: 429 });
  return `An answer to: ${prompt}`;
}

from(['Say hello.', 'Count to three.', 'Name a colour.'])
  .pipe(throttle((prompt) => complete(prompt), { concurrency: 2 }))
  .subscribe((answer) => console.log(answer));
