import { CostAboveLimitError, createLimiter } from 'headgate';

// At most 0.01 in any hour; prices are for a million tokens.
const prices = { inputPrice: 0.25, outputPrice: 2 };
const limiter = createLimiter({
  costBudget: { maxCost: 0.01, windowMs: 3_600_000, ...prices },
});

const complete = async (prompt: string) => ({
  text: `An answer to ${prompt}`,
  usage: { prompt_tokens: 0, completion_tokens: 1_000 }, // 1,000 x 2 / 1,000,000 = 0.002
});

const prompts = ['1', '2', '3', '4', '5'];
const answers = await Promise.all(prompts.map((prompt) => limiter.run(() => complete(prompt))));
console.log(`${answers.length} answers cost ${limiter.snapshot().costBudget?.used}`);

// The sixth would wait for an hour, until the first has left the window. Here the budget is raised.
const sixth = limiter.run(() => complete('6'));
console.log(`${limiter.snapshot().waiting} waits`);
limiter.configure({ costBudget: { maxCost: 0.02, windowMs: 3_600_000, ...prices } });
await sixth;
console.log(`all cost ${limiter.snapshot().costBudget?.used}`);

await limiter
  .run(() => complete('a book'), { costs: { cost: 5 } })
  .catch((error: unknown) => {
    if (error instanceof CostAboveLimitError) console.log(error.code);
  });
