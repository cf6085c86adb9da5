/**
 * One worker of the shared key: `node worker.js REDIS_URL EVERY_MS`. Prints the address of its
 * metrics.
 */
import { createLimiter } from 'headgate';
import { createProvider } from 'headgate/simulator';
import { startTelemetry } from 'headgate/telemetry';
import { openStore } from './fleet.ts';
import { SHARED_LIMITS } from './shared-limits.ts';

const REQUEST = { inputTokens: 120, maxTokens: 400, outputTokens: 300, bytes: 1_700 };

const [redisUrl = '', everyMs = ''] = process.argv.slice(2);
const telemetry = await startTelemetry({ serviceName: 'pictures', prometheusPort: 0 });
const { shared } = await openStore(redisUrl);
const limiter = createLimiter({ name: 'batch', adaptive: false, ...SHARED_LIMITS, shared });
const provider = createProvider({ latency: { meanMs: 350, sigma: 0.5 } });
setInterval(() => {
  limiter.run(() => provider.submitOrThrow(REQUEST), { bytes: REQUEST.bytes }).catch(() => {});
}, Number(everyMs));
process.on('disconnect', () => process.exit());
process.send?.(telemetry.prometheusUrl);
