import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 2 });
const complete = async (prompt: string) => prompt.toUpperCase();

async function* prompts() {
  for (const prompt of ['one', 'two', 'three']) yield prompt;
}

const answers = await limiter.map(prompts(), (prompt) => complete(prompt));
console.log(answers.join()); // ONE,TWO,THREE
