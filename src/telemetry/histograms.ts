import type { Attributes } from '@opentelemetry/api';
import type { GateKind } from '../model/outcome.ts';
import type { SizedKind } from '../model/sized-kind.ts';
import { MOST_VALUES } from './gauges.ts';
import type { Instruments } from './instruments.ts';
import { Labels } from './labels.ts';
import { ATTRIBUTES } from './names.ts';
import type { Recorder, RecorderOf } from './recorder.ts';

/** The recorders of one histogram, by the value of an attribute. Who uses it bounds the values. */
class ByValue {
  readonly #recorders = new Map<string, Recorder>();
  readonly #recorderOf: RecorderOf;
  readonly #attributes: Attributes;
  readonly #key: string;

  constructor(recorderOf: RecorderOf, attributes: Attributes, key: string) {
    this.#recorderOf = recorderOf;
    this.#attributes = attributes;
    this.#key = key;
  }

  of(value: string): Recorder {
    const known = this.#recorders.get(value);
    if (known !== undefined) return known;
    const recorder = this.#recorderOf({ ...this.#attributes, [this.#key]: value });
    this.#recorders.set(value, recorder);
    return recorder;
  }
}

/**
 * The histograms of one name. A recorder is kept for each series, so that a request that records a
 * value makes no attributes, and looks none up.
 */
export class Histograms {
  /** Requests and attempts that went well. */
  readonly request: Recorder;
  readonly attempt: Recorder;
  readonly byteRatio: Recorder;
  readonly tokenRatio: Recorder;
  readonly store: Recorder;
  readonly chunkSize: Recorder;
  readonly #requestFailed: ByValue;
  readonly #attemptFailed: ByValue;
  readonly #backoff: ByValue;
  readonly #estimate: ByValue;
  readonly #wait: ByValue;
  readonly #waitOf: RecorderOf;
  readonly #name: Attributes;
  /** How many rate limits distinguish the waits. */
  readonly #limits = new Labels(MOST_VALUES);
  /** By gate and limit. */
  readonly #limitWaits = new Map<string, Recorder>();

  constructor(name: Attributes, { histograms }: Instruments) {
    const { errorType, gate, kind, source, unit } = ATTRIBUTES;
    this.#name = name;
    this.request = histograms.requestDuration(name);
    this.attempt = histograms.attemptDuration(name);
    this.byteRatio = histograms.estimateRatio({ ...name, [unit]: 'bytes' });
    this.tokenRatio = histograms.estimateRatio({ ...name, [unit]: 'tokens' });
    this.store = histograms.storeDuration(name);
    this.chunkSize = histograms.chunkSize(name);
    this.#requestFailed = new ByValue(histograms.requestDuration, name, errorType);
    this.#attemptFailed = new ByValue(histograms.attemptDuration, name, errorType);
    this.#backoff = new ByValue(histograms.backoffDuration, name, source);
    this.#estimate = new ByValue(histograms.estimate, name, kind);
    this.#wait = new ByValue(histograms.waitDuration, name, gate);
    this.#waitOf = histograms.waitDuration;
  }

  /** Durations of requests that failed with this type of error. */
  requestFailed(errorType: string): Recorder {
    return this.#requestFailed.of(errorType);
  }

  /** Durations of attempts that failed with this type of error. */
  attemptFailed(errorType: string): Recorder {
    return this.#attemptFailed.of(errorType);
  }

  backoff(source: string): Recorder {
    return this.#backoff.of(source);
  }

  estimate(kind: SizedKind): Recorder {
    return this.#estimate.of(kind);
  }

  /** @param limit the named rate limit that bound; undefined: none did */
  wait(gate: GateKind, limit: string | undefined): Recorder {
    return limit === undefined ? this.#wait.of(gate) : this.#limitWait(gate, limit);
  }

  #limitWait(gate: GateKind, limit: string): Recorder {
    const label = this.#limits.of(limit);
    const key = `${gate} ${label}`;
    const known = this.#limitWaits.get(key);
    if (known !== undefined) return known;
    const named = { [ATTRIBUTES.gate]: gate, [ATTRIBUTES.limit]: label };
    const recorder = this.#waitOf({ ...this.#name, ...named });
    this.#limitWaits.set(key, recorder);
    return recorder;
  }
}
