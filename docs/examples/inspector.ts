import { createLimiter } from 'headgate';
import { startInspector } from 'headgate/inspector';

const inspector = await startInspector({ port: 0 }); // any free port; the default is 4600
console.log(inspector.url); // http://127.0.0.1:54321, say

const limiter = createLimiter({ name: 'chat', requestsPerMinute: 500 });
await limiter.run(async () => 'an answer'); // the page shows it
await inspector.close(); // in your program: at its end
