import { FeedbackSubject } from 'headgate';

const feedback = new FeedbackSubject({ reopen: 'all' });
feedback.mode$.subscribe((mode) => console.log(mode)); // normal, throttled

feedback.next({ kind: 'throttled', retryAfterMs: 2_000 });
console.log(feedback.mode); // throttled
