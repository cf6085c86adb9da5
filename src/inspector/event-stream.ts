import type { ServerResponse } from 'node:http';
import { controlsOf } from './controls.ts';
import type { Monitor } from './monitor.ts';
import { SECURITY_HEADERS } from './replies.ts';
import type { TrackedGate } from './tracked-gate.ts';
import type { Hello } from './wire.ts';

/** A longer message is not sent, and the page shows that. */
const MOST_BYTES = 1024 * 1024;

/** A reader that has taken no message for this number of looks (10 s) is disconnected. */
const PATIENCE = 40;

/** After this time a disconnected event source connects again, in ms. */
const RETRY_MS = 1_000;

/** One encoded event. It is encoded once for all readers. */
export function messageOf(event: string, json: string): Buffer {
  const message = Buffer.from(`event: ${event}\ndata: ${json}\n\n`);
  return message.length <= MOST_BYTES ? message : messageOf('tooLarge', '{}');
}

/** One page that reads server-sent events. It misses messages while it reads too slowly. */
export class EventStream {
  readonly #response: ServerResponse;
  #isBlocked = false;
  #skipped = 0;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('drain', () => {
      this.#isBlocked = false;
      this.#skipped = 0;
    });
  }

  /** Begins the answer. */
  open(): void {
    // Without chunked encoding, each message is one write instead of three.
    this.#response.removeHeader('transfer-encoding');
    this.#response.writeHead(200, {
      ...SECURITY_HEADERS,
      'content-type': 'text/event-stream',
      // nginx would hold frames back until its buffer is full.
      'x-accel-buffering': 'no',
    });
    this.#response.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** Whether the page can take the next message. Counts the messages that it misses. */
  get isReady(): boolean {
    if (!this.#isBlocked) return true;
    this.#skipped += 1;
    if (this.#skipped >= PATIENCE) this.#response.destroy();
    return false;
  }

  /** Ends the answer after the messages sent before, unless these are blocked. */
  end(): void {
    if (this.#isBlocked) this.#response.destroy();
    else this.#response.end();
  }

  send(message: Buffer): void {
    this.#isBlocked = !this.#response.write(message);
  }
}

/** Pages that read events at a time. */
export const MOST_READERS = 32;

/** An unchanged frame is sent again after this time, so that pages know the server is alive. */
const REPEAT_MS = 1_000;

interface SentFrame {
  /** All of it but the time. */
  readonly state: string;
  readonly at: number;
  readonly message: Buffer;
}

interface Reader {
  readonly stream: EventStream;
  /** The number of the gate to show; 0: the busiest one. */
  readonly wanted: number;
  /** The gate that the reader was shown last. */
  shown: number | undefined;
  /** The frame that the reader was sent last; undefined: none yet. */
  sent: SentFrame | undefined;
}

/** The pages that read events. */
export class Readers {
  readonly #readers = new Set<Reader>();
  readonly #monitor: Monitor;
  readonly #hello: Hello;
  /** The last frames, by the gate that they show. */
  #frames = new Map<string, SentFrame>();

  constructor(monitor: Monitor, hello: Hello) {
    this.#monitor = monitor;
    this.#hello = hello;
  }

  get count(): number {
    return this.#readers.size;
  }

  /**
   * @param wanted the number of the gate to show; 0: the busiest one
   * @param shown the number of the gate that the page has shown before; 0: none
   */
  add(response: ServerResponse, wanted: number, shown = 0): void {
    const stream = new EventStream(response);
    const reader: Reader = { stream, wanted, shown, sent: undefined };
    const gate = this.#gateOf(reader, this.#monitor.busiest);
    reader.shown = gate?.id;
    this.#readers.add(reader);
    response.on('close', () => this.#readers.delete(reader));
    response.on('error', () => this.#readers.delete(reader));
    stream.open();
    stream.send(messageOf('hello', JSON.stringify(this.#hello)));
    send(reader, this.#frame(gate, true));
  }

  /**
   * Sends a frame to each reader. A frame for several readers is made once. A reader whose last
   * frame is still up to date gets none.
   */
  push(): void {
    if (this.#readers.size === 0) return;
    const { busiest } = this.#monitor;
    const frames = new Map<string, SentFrame>();
    for (const reader of this.#readers) {
      if (!reader.stream.isReady) continue;
      const gate = this.#gateOf(reader, busiest);
      const isFirst = reader.shown !== gate?.id;
      reader.shown = gate?.id;
      const key = `${gate?.id} ${isFirst}`;
      let frame = frames.get(key);
      if (frame === undefined) {
        frame = this.#frame(gate, isFirst, this.#frames.get(key));
        frames.set(key, frame);
      }
      if (reader.sent !== frame) send(reader, frame);
    }
    this.#frames = frames;
  }

  /** Sends the event `end` to all readers, and ends their answers. */
  end(): void {
    const goodbye = messageOf('end', '{}');
    for (const { stream } of this.#readers) {
      if (stream.isReady) stream.send(goodbye);
      stream.end();
    }
  }

  /**
   * The gate to show to a reader. A reader that asked for no gate keeps the one shown last until it
   * ends.
   */
  #gateOf({ wanted, shown }: Reader, busiest: TrackedGate | undefined): TrackedGate | undefined {
    if (wanted !== 0) return this.#monitor.find(wanted);
    const kept = shown === undefined ? undefined : this.#monitor.find(shown);
    return kept?.endedAt === undefined ? (kept ?? busiest) : (busiest ?? kept);
  }

  /** @param before the last such frame, which is returned if it is unchanged and not too old */
  #frame(gate: TrackedGate | undefined, isFirst: boolean, before?: SentFrame): SentFrame {
    const open = this.#hello.canControl ? gate?.gate : undefined;
    const controls = open === undefined ? undefined : controlsOf(open);
    const { at, ...rest } = this.#monitor.frame(gate, controls, isFirst);
    const state = JSON.stringify(rest);
    if (before !== undefined && before.state === state && at - before.at < REPEAT_MS) return before;
    const json = `{"at":${at}${state === '{}' ? '' : ','}${state.slice(1)}`;
    return { state, at, message: messageOf('frame', json) };
  }
}

function send(reader: Reader, frame: SentFrame): void {
  reader.sent = frame;
  reader.stream.send(frame.message);
}
