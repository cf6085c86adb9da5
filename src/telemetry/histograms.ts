import type { Attributes } from '@opentelemetry/api';
import { MOST_VALUES } from './gauges.ts';
import type { HistogramKey, Instruments } from './instruments.ts';
import { Labels } from './labels.ts';
import { ATTRIBUTES, METRICS } from './names.ts';
import type { Recorder, RecorderOf } from './recorder.ts';

/**
 * The recorders of one histogram, for one name: without an attribute, and by the value of its first.
 * They are kept, so that a request that records a value makes no attributes.
 */
function recordersOf(recorderOf: RecorderOf, name: Attributes, key: string) {
  const byValue = new Map<string, Recorder>();
  // How many rate limits are told apart.
  const limits = new Labels(MOST_VALUES);
  return {
    /** Without the attribute. */
    plain: recorderOf(name),
    /**
     * @param value of the first attribute; who calls this bounds how many there are
     * @param limit the named rate limit, for an attribute more
     */
    of(value: string, limit?: string): Recorder {
      const label = limit && limits.of(limit);
      const id = label ? `${value} ${label}` : value;
      let recorder = byValue.get(id);
      if (recorder === undefined) {
        const named = label ? { [ATTRIBUTES.limit]: label } : undefined;
        recorder = recorderOf({ ...name, [key]: value, ...named });
        byValue.set(id, recorder);
      }
      return recorder;
    },
  };
}

export type Histograms = Readonly<Record<HistogramKey, ReturnType<typeof recordersOf>>>;

/** The histograms of one name. */
export function histogramsOf(name: Attributes, { histograms }: Instruments): Histograms {
  const recorders = Object.entries(histograms).map(([key, recorderOf]) => {
    const [attribute = ''] = METRICS[key as HistogramKey].attributes;
    return [key, recordersOf(recorderOf, name, attribute)] as const;
  });
  return Object.fromEntries(recorders) as Histograms;
}
