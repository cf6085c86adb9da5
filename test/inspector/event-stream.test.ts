import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { EventStream, messageOf } from '../../src/inspector/event-stream.ts';

class Response extends EventEmitter {
  readonly written: string[] = [];
  isDestroyed = false;
  takes = true;

  write(message: Buffer): boolean {
    this.written.push(String(message));
    return this.takes;
  }

  isEnded = false;

  destroy(): void {
    this.isDestroyed = true;
  }

  end(): void {
    this.isEnded = true;
  }
}

function open() {
  const response = new Response();
  return { response, stream: new EventStream(response as unknown as ServerResponse) };
}

it('leaves out frames that a reader does not take, and continues when it does', () => {
  const { response, stream } = open();
  response.takes = false;
  stream.send(messageOf('frame', '1'));
  expect(stream.isReady).toBe(false);
  response.emit('drain');
  expect(stream.isReady).toBe(true);
  stream.send(messageOf('frame', '2'));
  expect(response.written).toEqual(['event: frame\ndata: 1\n\n', 'event: frame\ndata: 2\n\n']);
  expect(response.isDestroyed).toBe(false);
});

it('disconnects a reader that takes nothing for 40 frames', () => {
  const { response, stream } = open();
  response.takes = false;
  stream.send(messageOf('frame', '1'));
  for (let frame = 0; frame < 39; frame += 1) expect(stream.isReady).toBe(false);
  expect(response.isDestroyed).toBe(false);
  expect(stream.isReady).toBe(false);
  expect(response.isDestroyed).toBe(true);
});

it('sends no message above one MiB', () => {
  const { response, stream } = open();
  stream.send(messageOf('frame', 'x'.repeat(1024 * 1024 + 1)));
  expect(response.written).toEqual(['event: tooLarge\ndata: {}\n\n']);
});

it('lets a reader take earlier messages at the end, and disconnects one that is behind', () => {
  const ready = open();
  ready.stream.send(messageOf('end', '{}'));
  ready.stream.end();
  expect(ready.response).toMatchObject({ isEnded: true, isDestroyed: false });
  const behind = open();
  behind.response.takes = false;
  behind.stream.send(messageOf('frame', '{}'));
  behind.stream.end();
  expect(behind.response).toMatchObject({ isEnded: false, isDestroyed: true });
});
