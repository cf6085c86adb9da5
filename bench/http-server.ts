/**
 * A server that answers every request with a small chat completion, with keep-alive connections.
 */
import { createServer } from 'node:http';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'A short answer. '.repeat(30) } }],
  usage: { prompt_tokens: 20, completion_tokens: 120, total_tokens: 140 },
});

const server = createServer((_request, response) => {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': ANSWER.length,
  });
  response.end(ANSWER);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.once('disconnect', () => process.exit(0));
