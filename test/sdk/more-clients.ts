import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { ChatOpenAI } from '@langchain/openai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import axios from 'axios';
import { AzureOpenAI } from 'openai';
import type { AttemptContext } from '../../src/index.ts';

/** Makes the calls of an SDK to the server at this address. */
export type MakeCalls = (
  url: string,
) => (prompt: string, context: AttemptContext) => Promise<unknown>;

const MAX_TOKENS = 8;
const asked = (content: string) => [{ role: 'user' as const, content }];

const azure: MakeCalls = (endpoint) => {
  const client = new AzureOpenAI({
    endpoint,
    apiKey: 'key',
    apiVersion: '2024-10-21',
    deployment: 'd',
    maxRetries: 0,
  });
  return (prompt, { signal }) => {
    const body = { model: 'd', max_tokens: MAX_TOKENS, messages: asked(prompt) };
    return client.chat.completions.create(body, { signal });
  };
};

const google: MakeCalls = (baseUrl) => {
  const httpOptions = { baseUrl, retryOptions: { attempts: 1 } };
  const ai = new GoogleGenAI({ apiKey: 'key', httpOptions });
  return (contents, { signal }) => {
    const config = { abortSignal: signal, maxOutputTokens: MAX_TOKENS };
    return ai.models.generateContent({ model: 'm', contents, config });
  };
};

const bedrock: MakeCalls = (endpoint) => {
  const client = new BedrockRuntimeClient({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  });
  return (prompt, { signal }) => {
    const command = new ConverseCommand({
      modelId: 'anthropic.m-v1:0',
      messages: [{ role: 'user', content: [{ text: prompt }] }],
      inferenceConfig: { maxTokens: MAX_TOKENS },
    });
    return client.send(command, { abortSignal: signal });
  };
};

const langchain: MakeCalls = (url) => {
  const model = new ChatOpenAI({
    model: 'm',
    apiKey: 'key',
    maxTokens: MAX_TOKENS,
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  });
  return (prompt, { signal }) => model.invoke(prompt, { signal });
};

const withAxios: MakeCalls = (url) => {
  const api = axios.create({ baseURL: `${url}/v1`, headers: { authorization: 'Bearer key' } });
  return (prompt, { signal }) => {
    const body = { model: 'm', max_tokens: MAX_TOKENS, messages: asked(prompt) };
    return api.post('/chat/completions', body, { signal });
  };
};

/**
 * By the names of their packages, with whether what they return tells the tokens that were used.
 */
export const MORE_CLIENTS: readonly (readonly [string, MakeCalls, boolean])[] = [
  ['openai, Azure', azure, true],
  ['@google/genai', google, true],
  ['@aws-sdk/client-bedrock-runtime', bedrock, true],
  ['@langchain/openai', langchain, false],
  ['axios', withAxios, true],
];
