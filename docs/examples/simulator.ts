import { throttle } from 'headgate';
import { createProvider, serve } from 'headgate/simulator';
import { range } from 'rxjs';

const provider = createProvider({
  limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 20, windowMs: 1_000 }],
  latency: 5,
});
const server = await serve(provider);

range(1, 40)
  .pipe(
    throttle((n, { signal }) =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sim', messages: [{ role: 'user', content: `${n}` }] }),
        signal,
      }).then((response) => (response.ok ? response.json() : response)),
    ),
  )
  .subscribe({
    complete: () => {
      console.log(provider.stats().completed); // 40, whatever was rejected on the way
      void server.close();
    },
  });
