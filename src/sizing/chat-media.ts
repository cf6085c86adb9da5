/** Images, audio and files in chat messages. */
import { mediaBytes, urlBytes } from './base64.ts';
import { isObject } from './guards.ts';

/** The fields in which providers put media into a part. */
interface MediaFields {
  readonly type?: unknown;
  readonly data?: unknown;
  /** OpenAI: `{url}` in chat, the URL itself in responses. */
  readonly image_url?: unknown;
  /** Anthropic: `{data}` or `{url}`. */
  readonly source?: unknown;
  /** Google: `{data}`. */
  readonly inlineData?: unknown;
  readonly inline_data?: unknown;
  /** Google: `{fileUri}`. */
  readonly fileData?: unknown;
  /** Google: `{file_uri}`; OpenAI: a data: URL. */
  readonly file_data?: unknown;
  /** OpenAI: `{data}`. */
  readonly input_audio?: unknown;
  /** OpenAI: `{file_data}`. */
  readonly file?: unknown;
}

/** The fields that describe the media. */
interface SourceFields {
  readonly type?: unknown;
  readonly data?: unknown;
  readonly url?: unknown;
  readonly fileUri?: unknown;
  readonly file_uri?: unknown;
  readonly file_data?: unknown;
}

/**
 * The bytes of the media in a part: base64 data as what it decodes to, a URL by its UTF-8 length,
 * a data: URL as what it carries. undefined for a part without media.
 */
export function partMediaBytes(part: MediaFields): number | undefined {
  if (isMedia(part.type) && part.data !== undefined) return dataBytes(part.data);
  const source =
    part.image_url ??
    part.source ??
    part.inlineData ??
    part.inline_data ??
    part.fileData ??
    part.file_data ??
    part.input_audio ??
    part.file;
  if (typeof source === 'string') return urlBytes(source);
  return isObject(source) ? sourceBytes(source) : undefined;
}

/** Parts with the media itself in `data`; those of type `file` are the Vercel AI SDK's. */
function isMedia(type: unknown): boolean {
  return type === 'image' || type === 'file';
}

function dataBytes(data: unknown): number {
  if (data instanceof URL) return urlBytes(data.href);
  // Version 7 of the AI SDK says in an object what it is.
  return (isObject(data) ? sourceBytes(data) : undefined) ?? mediaBytes(data);
}

function sourceBytes(source: SourceFields): number | undefined {
  const url = source.url ?? source.fileUri ?? source.file_uri ?? source.file_data;
  if (typeof url === 'string') return urlBytes(url);
  // Anthropic also puts the plain text of documents there.
  return source.data === undefined || source.type === 'text' ? undefined : mediaBytes(source.data);
}
