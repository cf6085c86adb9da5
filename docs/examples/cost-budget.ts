import { CostAboveLimitError, createLimiter } from 'headgate';

// At most 0.01 in any half second here; an hour is 3_600_000, a day 86_400_000.
const limiter = createLimiter({
  costBudget: { maxCost: 0.01, windowMs: 500, inputPrice: 0.25, outputPrice: 2 },
});

const complete = async (prompt: string) => ({
  text: `An answer to ${prompt}`,
  usage: { prompt_tokens: 0, completion_tokens: 1_000 }, // 1,000 x 2 / 1,000,000 = 0.002
});

const prompts = ['1', '2', '3', '4', '5', '6'];
const answers = await Promise.all(prompts.map((prompt) => limiter.run(() => complete(prompt))));
console.log(`${answers.length} of 6`);

// The sixth had to wait until the first five had left the window.
const spent = 0.01 + (limiter.snapshot().costBudget?.used ?? 0);
console.log(`spent ${spent}`);

await limiter
  .run(() => complete('a book'), { costs: { cost: 5 } })
  .catch((error: unknown) => {
    if (error instanceof CostAboveLimitError) console.log(error.code);
  });
