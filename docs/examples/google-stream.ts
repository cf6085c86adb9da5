import { GoogleGenAI } from '@google/genai';
import { type AttemptContext, throttle } from 'headgate';
import { from } from 'rxjs';

const apiKey = process.env.GEMINI_API_KEY ?? '';
const ai = new GoogleGenAI({ apiKey, httpOptions: { retryOptions: { attempts: 1 } } });

async function* stream(contents: string, { signal }: AttemptContext) {
  yield* await ai.models.generateContentStream({
    model: 'gemini-2.5-flash',
    contents,
    config: { abortSignal: signal, maxOutputTokens: 200 },
  });
}

from(['Say hello.'])
  .pipe(throttle(stream))
  .subscribe({
    next: (chunk) => process.stdout.write(chunk.text ?? ''),
    complete: () => console.log('\nended'),
  }); // … ended
