import { throttle } from 'headgate';
import OpenAI from 'openai';
import { from } from 'rxjs';

const client = new OpenAI({ baseURL: 'https://vllm.example/v1', apiKey: 'none', maxRetries: 0 });

from(['Say hello.', 'Write a page about rivers.'])
  .pipe(
    throttle(
      async (content, { signal }) => {
        const messages = [{ role: 'user' as const, content }];
        // Its `usage` is read: latency counts by token, so that long answers do not look slow.
        return client.chat.completions.create({ model: 'qwen3', messages }, { signal });
      },
      { concurrency: 256, adaptive: { strategy: 'latency', per: 'token' } },
    ),
  )
  .subscribe(({ usage }) => console.log((usage?.completion_tokens ?? 0) > 0)); // true, true
