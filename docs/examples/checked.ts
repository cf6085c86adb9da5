import { createLimiter } from 'headgate';

class InvalidAnswer extends Error {}

// Stands for a model whose first answer is no label.
const contents = ['I like it!', 'positive'];
const ask = async () => ({ content: contents.shift(), usage: { total_tokens: 12 } });

const limiter = createLimiter({
  tokensPerMinute: 100_000,
  // Ask again, three times at most. With { kind: 'fatal' } the first invalid answer fails.
  classify: (error) =>
    error instanceof InvalidAnswer ? { kind: 'failed', retry: true } : undefined,
});

const label = await limiter.run(
  async ({ attempt, observe }) => {
    const { content } = observe(await ask()); // the used tokens count, even if the check throws
    if (content !== 'positive' && content !== 'negative') throw new InvalidAnswer(content);
    return `${content} at attempt ${attempt}`;
  },
  { tokens: 20 },
);
console.log(label); // positive at attempt 2
