import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 2 });
const ask = async (question: string) => question.toUpperCase();
const judge = async (answer: string) => answer.length;

// Above all that requests gain while they wait, however long the run is.
const JUDGE_FIRST = { priority: 1_000_000 };
const CASES_AT_ONCE = 4;
const cases = ['one', 'two', 'three', 'four', 'five', 'seven'].values();

async function work(): Promise<void> {
  for (const question of cases) {
    const answer = await limiter.run(() => ask(question));
    const score = await limiter.run(() => judge(answer), JUDGE_FIRST);
    console.log(question, score);
  }
}

await Promise.all(Array.from({ length: CASES_AT_ONCE }, work)); // one 3 … seven 5
