import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';

/** One SDK, as its users call it. In all of them an aborted stream ends as if it were complete. */
export interface Client {
  ask(prompt: string, signal: AbortSignal): Promise<string>;
  stream(prompt: string, signal: AbortSignal): AsyncIterable<string>;
}

/** Makes a client of a server that sends by a `fetch`, or by its own. */
export type MakeClient = (url: string, fetch?: typeof globalThis.fetch) => Client;

const MAX_TOKENS = 8;
const asked = (content: string) => [{ role: 'user' as const, content }];

const openai: MakeClient = (url, fetch) => {
  const client = new OpenAI({
    apiKey: 'key',
    baseURL: `${url}/v1`,
    maxRetries: 0,
    ...(fetch && { fetch }),
  });
  const body = (prompt: string) => ({
    model: 'm',
    max_tokens: MAX_TOKENS,
    messages: asked(prompt),
  });
  return {
    async ask(prompt, signal) {
      const { choices } = await client.chat.completions.create(body(prompt), { signal });
      return choices[0]?.message.content ?? '';
    },
    async *stream(prompt, signal) {
      const chunks = await client.chat.completions.create(
        { ...body(prompt), stream: true },
        { signal },
      );
      for await (const { choices } of chunks) yield choices[0]?.delta.content ?? '';
      signal.throwIfAborted();
    },
  };
};

const anthropic: MakeClient = (baseURL, fetch) => {
  const client = new Anthropic({
    apiKey: 'key',
    baseURL,
    maxRetries: 0,
    ...(fetch && { fetch }),
  });
  const body = (prompt: string) => ({
    model: 'm',
    max_tokens: MAX_TOKENS,
    messages: asked(prompt),
  });
  return {
    async ask(prompt, signal) {
      const { content } = await client.messages.create(body(prompt), { signal });
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
    async *stream(prompt, signal) {
      const events = await client.messages.create({ ...body(prompt), stream: true }, { signal });
      for await (const event of events) {
        if (event.type !== 'content_block_delta' || event.delta.type !== 'text_delta') continue;
        yield event.delta.text;
      }
      signal.throwIfAborted();
    },
  };
};

const vercel: MakeClient = (url, fetch) => {
  const provider = createOpenAI({
    apiKey: 'key',
    baseURL: `${url}/v1`,
    ...(fetch && { fetch }),
  });
  const call = (prompt: string, abortSignal: AbortSignal) => ({
    model: provider.chat('m'),
    prompt,
    maxOutputTokens: MAX_TOKENS,
    maxRetries: 0,
    abortSignal,
  });
  return {
    ask: async (prompt, signal) => (await generateText(call(prompt, signal))).text,
    async *stream(prompt, signal) {
      // Its `textStream` ends at an error as if all were well; `fullStream` has the error.
      const { fullStream } = streamText({ ...call(prompt, signal), onError: () => {} });
      for await (const part of fullStream) {
        if (part.type === 'error') throw part.error;
        if (part.type === 'text-delta') yield part.text;
      }
      signal.throwIfAborted();
    },
  };
};

/** By the names of their packages. */
export const CLIENTS: readonly (readonly [string, MakeClient])[] = [
  ['openai', openai],
  ['@anthropic-ai/sdk', anthropic],
  ['ai', vercel],
];
