import { throttle } from 'headgate';
import OpenAI from 'openai';
import { from } from 'rxjs';

const client = new OpenAI({ maxRetries: 0 });
const ask = (content: string, signal: AbortSignal) =>
  client.chat.completions.create(
    { model: 'gpt-5-mini', messages: [{ role: 'user', content }] },
    { signal },
  );

from(['Say hello.', 'Name a colour.'])
  .pipe(throttle((prompt, { signal }) => ask(prompt, signal), { outcomes: true, ordered: true }))
  .subscribe((outcome) => {
    if (outcome.status === 'failed') console.log(outcome.request, outcome.error);
    else console.log(outcome.request, outcome.value.choices[0]?.message.content);
  });
