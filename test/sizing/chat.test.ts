import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateBytes, estimateTokens } from '../../src/sizing/estimate.ts';
import { anyText } from '../support/any-text.ts';

const PNG = Buffer.alloc(30, 7).toString('base64');
const json = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** The bytes of a value and its tokens, which come from its text alone. */
function sizeOf(value: unknown): { bytes: number; tokens: number } {
  const bytes = estimateBytes(value);
  return { bytes, tokens: estimateTokens(value, bytes) };
}

const user = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });

describe('OpenAI chat', () => {
  it('counts the text of messages and no settings', () => {
    const body = {
      model: 'gpt-4o',
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Grüß Gott' },
        { role: 'assistant', content: null },
      ],
    };
    expect(sizeOf(body)).toEqual({ bytes: 9 + 11, tokens: 5 });
  });

  it('counts as many bytes as its messages have text', () => {
    fc.assert(
      fc.property(fc.array(anyText(), { minLength: 1 }), (texts) => {
        const messages = texts.map((content) => ({ role: 'user', content }));
        const parts = texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] }));
        const bytes = Buffer.byteLength(texts.join(''));
        const size = { bytes, tokens: Math.ceil(bytes / 4) };
        expect(sizeOf({ messages })).toEqual(size);
        expect(sizeOf({ messages: parts })).toEqual(size);
        expect(sizeOf(messages)).toEqual(size);
      }),
    );
  });

  it('counts images by value decoded and images by reference by their URL, neither as text', () => {
    const text = { type: 'text', text: 'What is it?' };
    const byValue = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
    const byReference = { type: 'image_url', image_url: { url: 'https://a.io/ü.png' } };
    expect(sizeOf(user(text, byValue))).toEqual({ bytes: 11 + 30, tokens: 3 });
    expect(sizeOf(user(text, byReference))).toEqual({ bytes: 11 + 19, tokens: 3 });
  });

  it('counts audio and files decoded', () => {
    const audio = { type: 'input_audio', input_audio: { data: PNG, format: 'wav' } };
    const file = { type: 'file', file: { file_data: `data:application/pdf;base64,${PNG}` } };
    expect(sizeOf(user(audio, file))).toEqual({ bytes: 60, tokens: 0 });
  });

  it('counts tools, functions, response formats and tool calls as their JSON', () => {
    const tools = [{ type: 'function', function: { name: 'lookup' } }];
    const format = { type: 'json_schema', json_schema: { name: 'Ü' } };
    const tool_calls = [{ id: '1', function: { name: 'lookup', arguments: '{"q":"ü"}' } }];
    const messages = [
      { role: 'user', content: 'abc' },
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', tool_call_id: '1', content: 'result' },
    ];
    const body = { messages, tools, functions: tools, response_format: format };
    expect(estimateBytes(body)).toBe(9 + json(tool_calls) + 2 * json(tools) + json(format));
  });

  it('counts a message on its own as it does in a request', () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
    const message = { role: 'user', content: ['abc', image] };
    const tool_calls = [{ id: '1', function: { name: 'lookup', arguments: '{}' } }];
    const call = { role: 'assistant', content: null, tool_calls };
    expect(sizeOf(message)).toEqual({ bytes: 33, tokens: 1 });
    expect(estimateBytes([message, call])).toBe(33 + json(tool_calls));
    expect(estimateBytes({ messages: [message, call] })).toBe(33 + json(tool_calls));
  });

  it('counts nothing for fields that are null', () => {
    const messages = [{ role: 'user', content: 'abc', tool_calls: null }];
    const body = { messages, system: null, instructions: null, tools: null, config: null };
    expect(estimateBytes(body)).toBe(3);
  });

  it('counts an unknown part as its JSON', () => {
    const part = { type: 'refusal', refusal: 'no' };
    expect(sizeOf(user(part, 5, 'text')).bytes).toBe(json(part) + 1 + 4);
  });
});

describe('OpenAI responses', () => {
  it('counts instructions and an input that is text', () => {
    const body = { model: 'gpt-4.1', instructions: 'Be brief.', input: 'Why?' };
    expect(sizeOf(body)).toEqual({ bytes: 13, tokens: 4 });
  });

  it('counts the items of an input', () => {
    const call = { type: 'function_call', call_id: '1', name: 'f', arguments: '{}' };
    const input = [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'abcd' },
          { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
          { type: 'input_file', file_data: `data:application/pdf;base64,${PNG}` },
        ],
      },
      call,
      { type: 'function_call_output', call_id: '1', output: 'result' },
    ];
    const text = 4 + json(call) + 6;
    expect(sizeOf({ input })).toEqual({ bytes: text + 60, tokens: Math.ceil(text / 4) });
    expect(estimateBytes({ model: 'm', input: input.slice(1) })).toBe(json(call) + 6);
  });

  it('counts the texts or token ids that an embedding is asked for', () => {
    expect(estimateBytes({ model: 'm', input: ['abc', 'ü'] })).toBe(5);
    expect(estimateBytes({ model: 'm', input: [1, 234] })).toBe(4);
    expect(estimateBytes({ model: 'm', input: [] })).toBe(0);
  });
});

describe('Anthropic messages', () => {
  const source = { type: 'base64', media_type: 'image/png', data: PNG };

  it('count the system prompt, as text or blocks, and the content', () => {
    const messages = [{ role: 'user', content: 'abc' }];
    expect(sizeOf({ system: 'Be brief.', messages })).toEqual({ bytes: 12, tokens: 3 });
    expect(estimateBytes({ system: [{ type: 'text', text: 'Brief.' }], messages })).toBe(9);
  });

  it('count images and documents, those in results of tools too', () => {
    const image = { type: 'image', source };
    const byReference = { type: 'image', source: { type: 'url', url: 'https://a.io' } };
    const document = { type: 'document', source };
    const text = { type: 'text', text: 'abcde' };
    const result = { type: 'tool_result', tool_use_id: '1', content: [text, image] };
    const body = user(text, image, byReference, document, result, { ...result, content: 'done' });
    expect(sizeOf(body)).toEqual({ bytes: 14 + 3 * 30 + 12, tokens: 4 });
  });

  it('count documents that are plain text, and tool use, as JSON', () => {
    const plain = { type: 'document', source: { type: 'text', data: 'a text', media_type: 't' } };
    const use = { type: 'tool_use', id: '1', name: 'f', input: { q: 'ü' } };
    const bytes = json(plain) + json(use);
    expect(sizeOf(user(plain, use))).toEqual({ bytes, tokens: Math.ceil(bytes / 4) });
  });

  it('end at results nested without end', () => {
    const result = { type: 'tool_result', content: [] as unknown[] };
    result.content.push({ type: 'text', text: 'abc' }, result);
    expect(estimateBytes(user(result))).toBe(6);
  });
});

describe('Google contents', () => {
  it('count parts: text, inline data, file URIs', () => {
    const body = {
      systemInstruction: { parts: [{ text: 'Brief.' }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'abc' },
            { inlineData: { mimeType: 'image/png', data: PNG } },
            { inline_data: { mime_type: 'image/png', data: PNG } },
            { fileData: { fileUri: 'gs://a' } },
            { file_data: { file_uri: 'gs://b' } },
          ],
        },
      ],
    };
    expect(sizeOf(body)).toEqual({ bytes: 9 + 60 + 12, tokens: 3 });
  });

  it('count what the client takes: text, a config, snake case, no role', () => {
    const config = { systemInstruction: 'Brief.', tools: [{ googleSearch: {} }], topK: 3 };
    const request = { model: 'gemini', contents: 'Why?', config };
    expect(estimateBytes(request)).toBe(4 + 6 + json(config.tools));
    const wire = { contents: [{ parts: [{ text: 'a' }] }], system_instruction: 'bc' };
    expect(estimateBytes(wire)).toBe(3);
  });
});

describe('other values with the same names', () => {
  it.each([
    { messages: ['a', 'b'] },
    { messages: [] },
    { messages: [{ id: 1 }] },
    { messages: 'text' },
    { model: 'car', messages: 5 },
    { input: 'question', expected: 'answer' },
    { contents: [{ page: 1 }] },
    { role: 'admin' },
    { role: 'admin', content: { id: 1 } },
    { content: 'text' },
    { parts: ['wheel'], name: 'car' },
  ])('count as their JSON: %j', (value) => {
    expect(sizeOf(value)).toEqual({ bytes: json(value), tokens: Math.ceil(json(value) / 4) });
  });
});
