import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 20 });

async function ask(content: string): Promise<string> {
  const response = await limiter.run(({ signal }) =>
    fetch('https://api.openai.com/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] }),
      signal,
    }),
  );
  // A 429 never gets here. What is left (400, 401 …) is a `Response`, as with `fetch` itself.
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return JSON.parse(await response.text()).choices[0].message.content;
}

console.log('It says:', await ask('Say hello.')); // It says: …
