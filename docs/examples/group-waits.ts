import { createLimiterGroup } from 'headgate';

const group = createLimiterGroup((tenant: string) => tenant, {
  name: 'tenants',
  each: { concurrency: 1 },
  shared: { requestsPerMinute: 6_000 },
});
const ask = () => new Promise((resolve) => setTimeout(resolve, 50));
const answers = ['ada', 'ada', 'bob', 'bob', 'bob', 'cy'].map((tenant) => group.run(tenant, ask));

const held = Object.entries(group.snapshot().keys)
  .filter(([, { waiting }]) => waiting > 0)
  .sort(([, a], [, b]) => b.waiting - a.waiting);
for (const [key, { waiting, binding }] of held.slice(0, 10)) {
  console.log(key, waiting, binding); // bob 2 concurrency, ada 1 concurrency
}
await Promise.all(answers);
