import Anthropic from '@anthropic-ai/sdk';
import { type AttemptContext, throttle } from 'headgate';
import { from } from 'rxjs';

const client = new Anthropic({ maxRetries: 0 });

async function* stream(content: string, { signal }: AttemptContext) {
  yield* await client.messages.create(
    {
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      stream: true,
      messages: [{ role: 'user', content }],
    },
    { signal },
  );
}

from(['Say hello.'])
  .pipe(throttle(stream, { concurrency: 20 }))
  .subscribe((event) => console.log(event.type)); // message_start … message_stop
