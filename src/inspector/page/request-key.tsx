import type { RequestRecord } from '../wire-requests.ts';
import { GATE_COLOURS, GATE_NAMES } from './chart-lines.ts';

/** The legend of the bars: only the kinds of parts that occur. */
export function Key({ records }: { readonly records: readonly RequestRecord[] }) {
  const parts = records.flatMap((record) => record.parts);
  const gates = new Set(parts.flatMap((part) => (part.kind === 'wait' ? [part.gate] : [])));
  const isAnyBad = parts.some((part) => part.kind === 'attempt' && part.result !== 'ok');
  return (
    <p class="key" aria-hidden="true">
      <KeyItem kind="is-ok" colour="api" label="with the API" />
      {isAnyBad && <KeyItem kind="is-bad" colour="red" label="without success" />}
      {[...gates].map((gate) => (
        <KeyItem
          key={gate}
          kind="is-wait"
          colour={GATE_COLOURS[gate]}
          label={`waits for ${GATE_NAMES[gate]}`}
        />
      ))}
    </p>
  );
}

interface KeyItemProps {
  readonly kind: string;
  readonly colour: string;
  readonly label: string;
}

function KeyItem({ kind, colour, label }: KeyItemProps) {
  return (
    <span class="key-item">
      <span class="key-bar">
        <span class={`segment ${kind}`} style={{ color: `var(--${colour})` }} />
      </span>
      {label}
    </span>
  );
}
