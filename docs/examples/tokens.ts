import { throttle } from 'headgate';
import { from } from 'rxjs';

const complete = async (prompt: string) => ({ text: prompt, usage: { total_tokens: 12 } });

from(['a', 'b'])
  .pipe(
    throttle(
      async (prompt, context) => {
        const { text, usage } = await complete(prompt);
        context.recordTokens(usage.total_tokens);
        return text;
      },
      { requestsPerMinute: 10_000, tokensPerMinute: 2_000_000 },
    ),
  )
  .subscribe((text) => console.log(text)); // a, b
