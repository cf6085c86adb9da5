import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 2 });
const complete = async (prompt: string, signal: AbortSignal) => {
  signal.throwIfAborted();
  return prompt.toUpperCase();
};

const prompts = ['one', 'two', 'three'];
const answers = await Promise.all(
  prompts.map((prompt) => limiter.run(({ signal }) => complete(prompt, signal))),
);
console.log(answers.join()); // ONE,TWO,THREE

const paced = limiter.wrap((prompt: string) => complete(prompt, AbortSignal.timeout(60_000)));
console.log(await paced('four')); // FOUR
