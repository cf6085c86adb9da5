import { createLimiterGroup } from 'headgate';
import { from } from 'rxjs';

type Job = { model: string; prompt: string };
const group = createLimiterGroup(({ model }: Job) => model, {
  each: (model) => ({ requestsPerMinute: model === 'large' ? 60 : 6_000 }),
  shared: { concurrency: 2, tokensPerMinute: 1_000_000 },
});

from([
  { model: 'large', prompt: 'one' },
  { model: 'large', prompt: 'two' },
  { model: 'small', prompt: 'three' },
])
  .pipe(group.throttle(async ({ model, prompt }) => `${model} ${prompt}`, { ordered: true }))
  .subscribe((answer) => console.log(answer)); // large one, large two, small three

console.log(await group.run('small', async () => 'small four', { priority: 1 }));
console.log(group.keys.join()); // large,small
