import { createLimiter } from 'headgate';
import { startTelemetry } from 'headgate/telemetry';

// Any free port; without it 9464. Start telemetry before limiters and streams are made.
const telemetry = await startTelemetry({ serviceName: 'labeller', prometheusPort: 0 });
const limiter = createLimiter({ name: 'labels', concurrency: 20 });
await limiter.run(async () => 'a label');

const page = await fetch(telemetry.prometheusUrl ?? '').then((response) => response.text());
console.log(/headgate_request_duration_count.* (\d+)/.exec(page)?.[1]); // 1
await telemetry.shutdown(); // sends what is left; takes 5 s at the most, and never rejects
