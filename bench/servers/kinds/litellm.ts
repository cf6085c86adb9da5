/** The proxy of LiteLLM with limits of a key: requests, tokens, and requests in flight. */
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { send } from '../client.ts';
import type { Limit } from '../limit.ts';
import { findProgram, isExecutable, type RunningProgram, startProgram } from '../program.ts';
import type { OpenServer, Server } from '../server.ts';
import { WINDOW, WINDOW_TEXT } from './window.ts';

const FOLDER = 'build/litellm';
const INSTALL = `python3 -m venv ${FOLDER} && ${FOLDER}/bin/pip install 'litellm[proxy]'`;

/** The first start on a machine compiles thousands of files. */
const START_MS = 120_000;

const LATENCY_MS = 500;
const IN_FLIGHT = 5;

/**
 * Mocked answers use 10 input and 20 output tokens. 2 are reserved for the prompt, so 28 for the
 * output.
 */
const TOKENS = 30;
const PROMPT = 'Say hello.';
const MAX_TOKENS = 28;

/** Without a database, a custom function gives keys their limits: here by the key's first word. */
const AUTH = `from litellm.proxy._types import UserAPIKeyAuth

LIMITS = {
    "rpm": {"rpm_limit": ${WINDOW.limit}},
    "tpm": {"tpm_limit": ${WINDOW.limit * TOKENS}},
    "parallel": {"max_parallel_requests": ${IN_FLIGHT}},
}


async def user_api_key_auth(request, api_key: str) -> UserAPIKeyAuth:
    return UserAPIKeyAuth(api_key=api_key, **LIMITS[api_key.split("-")[0]])
`;

const CONFIG = `model_list:
  - model_name: mock
    litellm_params:
      model: openai/mock
      api_key: none
      mock_response: ok
      mock_delay: ${LATENCY_MS / 1000}
general_settings:
  custom_auth: limits.user_api_key_auth
`;

export const litellm = {
  'litellm-rpm': server('rpm', `rpm_limit, ${WINDOW_TEXT}`, WINDOW),
  'litellm-tpm': server('tpm', `tpm_limit, ${WINDOW_TEXT} of ${TOKENS} tokens each`, WINDOW),
  'litellm-parallel': server('parallel', `max_parallel_requests ${IN_FLIGHT}`, {
    kind: 'in-flight',
    limit: IN_FLIGHT,
  }),
} satisfies Record<string, Server>;

function server(kind: 'rpm' | 'tpm' | 'parallel', about: string, limit: Limit): Server {
  return {
    about: `LiteLLM: ${about}, answers after ${LATENCY_MS} ms`,
    limit,
    latencyMs: LATENCY_MS,
    missing: () => (program() ? undefined : INSTALL),
    open: async () => withKey(await proxy(), `${kind}-${randomUUID()}`),
  };
}

function program(): string | undefined {
  const own = resolve(FOLDER, 'bin/litellm');
  return isExecutable(own) ? own : findProgram('litellm');
}

let running: Promise<RunningProgram> | undefined;

/** One proxy for all keys, until the bench ends: it starts slowly, and limits belong to keys. */
function proxy(): Promise<RunningProgram> {
  running ??= start();
  return running;
}

async function start(): Promise<RunningProgram> {
  const started = await startProgram({
    files: () => ({ 'config.yaml': CONFIG, 'limits.py': AUTH }),
    command: (port, folder) => [
      program() ?? 'litellm',
      ...['--config', `${folder}/config.yaml`, '--telemetry', 'False'],
      ...['--host', '127.0.0.1', '--port', `${port}`],
    ],
    env: {
      LITELLM_MASTER_KEY: `sk-${randomUUID()}`,
      LITELLM_RATE_LIMIT_WINDOW_SIZE: `${WINDOW.windowMs / 1000}`,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
    startMs: START_MS,
  });
  // Warm up: the first answer takes longer than all others.
  await send(withKey(started, 'rpm-warm-up').endpoint);
  return started;
}

function withKey({ port }: RunningProgram, key: string): OpenServer {
  return {
    endpoint: {
      url: `http://127.0.0.1:${port}/v1/chat/completions`,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'mock',
        max_tokens: MAX_TOKENS,
        messages: [{ role: 'user', content: PROMPT }],
      }),
    },
    close: async () => {},
  };
}
