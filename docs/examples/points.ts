import { createLimiter } from 'headgate';

// Stands for the API: its answers tell what a query has cost.
const post = async (query: string) => ({
  data: query.length,
  errors: undefined,
  extensions: { cost: { actualQueryCost: 12 } },
});

const bucket = { limit: 50, windowMs: 1_000, algorithm: 'token-bucket', burst: 1_000 } as const;
const limiter = createLimiter({
  limits: { points: { ...bucket, charge: 'settle' } },
  refundRejected: true, // a throttled query costs nothing
});

async function ask(query: string, points: number): Promise<number> {
  return limiter.run(
    async ({ record }) => {
      const { data, errors, extensions } = await post(query);
      if (errors !== undefined) throw Object.assign(new Error('GraphQL'), { errors });
      record('points', extensions.cost.actualQueryCost);
      return data;
    },
    { costs: { points } },
  );
}

console.log(await ask('{ shop { name } }', 100)); // 17
console.log((limiter.snapshot().rateLimit?.points?.available ?? 0) > 980); // true
