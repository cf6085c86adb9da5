import { throttle } from 'headgate';
import { from } from 'rxjs';

async function score(prompt: string, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  if (prompt === '') throw Object.assign(new Error('empty prompt'), { status: 400 });
  return prompt.length;
}

from(['four', '', 'eleven'])
  .pipe(throttle((prompt, { signal }) => score(prompt, signal), { outcomes: true, ordered: true }))
  .subscribe((outcome) => {
    if (outcome.status === 'ok') console.log(outcome.request, outcome.value);
    else console.log('failed:', outcome.error, outcome.stats.attempts);
  });
