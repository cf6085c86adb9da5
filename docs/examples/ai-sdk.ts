import { openai } from '@ai-sdk/openai';
import { generateText } from 'ai';
import { throttle } from 'headgate';
import { from } from 'rxjs';

from(['Say hello.'])
  .pipe(
    throttle(async (prompt, { signal }) => {
      const model = openai.chat('gpt-5-mini');
      const { text } = await generateText({ model, prompt, maxRetries: 0, abortSignal: signal });
      return `${prompt} ${text}`;
    }),
  )
  .subscribe((answer) => console.log(answer)); // Say hello. …
