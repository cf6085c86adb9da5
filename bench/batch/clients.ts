/** The programs that run a file of prompts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpSender, runBatch } from 'headgate/batch';
import OpenAI from 'openai';
import pLimit from 'p-limit';

/** The number of prompts that were answered in the end, and of calls that got a 429. */
export interface Answered {
  readonly answered: number;
  readonly rejected: number;
}

export type BatchClient = (url: string, prompts: readonly string[]) => Promise<Answered>;

/** The `headgate` command, without any options about the limit. */
export const headgate: BatchClient = async (url, prompts) => {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-bench-'));
  const sender = createHttpSender({ baseUrl: `${url}/v1`, apiKey: undefined, timeoutMs: 60_000 });
  try {
    const input = join(folder, 'in.jsonl');
    await writeFile(input, prompts.map((prompt) => `${JSON.stringify({ prompt })}\n`).join(''));
    const output = join(folder, 'out.jsonl');
    const report = await runBatch({ input, output, model: 'm', send: sender.send });
    return { answered: report.ok, rejected: report.rejected };
  } finally {
    await sender.close();
    await rm(folder, { recursive: true });
  }
};

/** Fifty calls at a time, with the retries of the SDK. */
export const pLimitAndSdk: BatchClient = async (url, prompts) => {
  const { client, rejected } = clientOf(url, 2);
  const limit = pLimit(50);
  const answered = prompts.map((prompt) => limit(() => ask(client, prompt).then(ok, failed)));
  const good = (await Promise.all(answered)).filter((isOk) => isOk);
  return { answered: good.length, rejected: rejected() };
};

const PER_MINUTE = 1_200;
const ATTEMPTS = 5;
const PAUSE_MS = 15_000;

/**
 * The rules of OpenAI's cookbook script for parallel requests, given the exact limit: a bucket of a
 * minute's requests that fills evenly, five attempts each, and a pause of 15 s after a 429.
 */
export const cookbookRules: BatchClient = async (url, prompts) => {
  const { client, rejected } = clientOf(url, 0);
  const queue = prompts.map((prompt) => ({ prompt, attempts: ATTEMPTS }));
  let [available, filledAt, rejectedAt] = [PER_MINUTE, Date.now(), 0];
  let [answered, inFlight] = [0, 0];
  const send = async (request: { prompt: string; attempts: number }) => {
    inFlight += 1;
    request.attempts -= 1;
    try {
      await ask(client, request.prompt);
      answered += 1;
    } catch (error) {
      if (error instanceof OpenAI.RateLimitError) rejectedAt = Date.now();
      if (request.attempts > 0) queue.push(request);
    } finally {
      inFlight -= 1;
    }
  };
  while (queue.length > 0 || inFlight > 0) {
    const now = Date.now();
    available = Math.min(PER_MINUTE, available + ((now - filledAt) * PER_MINUTE) / 60_000);
    filledAt = now;
    const isPaused = now - rejectedAt < PAUSE_MS;
    const request = available >= 1 && !isPaused ? queue.shift() : undefined;
    if (request !== undefined) {
      available -= 1;
      void send(request);
    }
    await sleep(1);
  }
  return { answered, rejected: rejected() };
};

function clientOf(url: string, maxRetries: number) {
  let rejected = 0;
  const counting: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    if (response.status === 429) rejected += 1;
    return response;
  };
  const options = { apiKey: 'none', baseURL: `${url}/v1`, maxRetries, fetch: counting };
  return { client: new OpenAI(options), rejected: () => rejected };
}

function ask(client: OpenAI, prompt: string) {
  return client.chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: prompt }],
  });
}

const ok = () => true;
const failed = () => false;
