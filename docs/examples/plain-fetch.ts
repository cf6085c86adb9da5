import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 20 });

async function ask(content: string): Promise<string> {
  const response = await limiter.run(({ signal }) =>
    fetch('https://api.openai.com/v1/chat/completions', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
      },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] }),
      signal,
    }),
  );
  // Rejected requests were sent again. A final answer (400, 401, a used-up quota …) comes here.
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return JSON.parse(await response.text()).choices[0].message.content;
}

console.log('It says:', await ask('Say hello.')); // It says: …
