import { createLimiter } from 'headgate';
import { startInspector } from 'headgate/inspector';

// Any free port; without it 4600.
const inspector = await startInspector({ port: 0 });
console.log(inspector.url); // http://127.0.0.1:4600

const limiter = createLimiter({ name: 'chat', requestsPerMinute: 500 });
await limiter.run(async () => 'an answer'); // the page shows it
await inspector.close();
