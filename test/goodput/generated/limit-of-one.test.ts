import { expect, it } from 'vitest';
import { generatedClients } from '../../../bench/goodput/generated/clients/index.ts';
import { runGenerated } from '../../../bench/goodput/generated/run.ts';
import { drawScenario } from '../../../bench/goodput/generated/space.ts';

it('headers that tell of a limit of one, of which each request leaves nothing, stop nobody', async () => {
  // Its rate drifts. Once the headers seemed to tell of a bucket, four requests a minute were sent.
  const scenario = drawScenario(93_070);
  expect(scenario).toMatchObject({ kind: 'token-bucket', burst: 1, headers: 'anthropic' });
  const { goodput } = await runGenerated(scenario, generatedClients.headgate, {
    concurrency: 2_000,
  });
  expect(goodput).toBeGreaterThan(85);
});
