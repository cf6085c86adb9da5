import { useRef, useState } from 'preact/hooks';
import { count } from '../format.ts';
import type { GateSummary } from '../wire.ts';
import { ConditionIcon } from './status.tsx';
import { CONDITION_NAMES } from './status-words.ts';

interface Props {
  readonly gates: readonly GateSummary[];
  readonly more: number;
  readonly selected: number | undefined;
  readonly select: (gate: number) => void;
}

/** The filter is shown from this number of gates on. */
const FILTER_FROM = 8;

/**
 * The list of all limiters and streams. A narrow window shows only the selected one, until opened.
 */
export function GateList({ gates, more, selected, select }: Props) {
  const [filter, setFilter] = useState('');
  const [isOpen, setOpen] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  // In a wide window the toggle is not displayed, so that the focus stays in the list.
  const fold = () => {
    toggle.current?.focus();
    setOpen(false);
  };
  const wanted = filter.trim().toLowerCase();
  const shown = gates.filter(({ name }) => name.toLowerCase().includes(wanted));
  const present = gates.find(({ id }) => id === selected);
  return (
    <nav
      class={`gates ${isOpen ? 'is-open' : ''}`}
      aria-label="Limiters and streams"
      onKeyDown={({ key, target }) => {
        // The first Escape in the filter empties it.
        const isEmptied = target instanceof HTMLInputElement && target.value !== '';
        if (key === 'Escape' && isOpen && !isEmptied) fold();
      }}
    >
      <button
        type="button"
        class="gates-toggle"
        ref={toggle}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="clip">{present?.name ?? 'No limiter yet'}</span>
        <span class="quiet">{gates.length > 1 ? `1 of ${count(gates.length)}` : ''}</span>
        <span aria-hidden="true">{isOpen ? '▴' : '▾'}</span>
      </button>
      <div class="gates-body">
        {gates.length >= FILTER_FROM && (
          <input
            type="search"
            class="filter"
            placeholder={`Filter ${count(gates.length)}`}
            aria-label="Filter limiters and streams by name"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        )}
        <ul>
          {shown.map((gate) => (
            <li key={gate.id}>
              <button
                type="button"
                class="gate"
                aria-current={gate.id === selected ? 'true' : undefined}
                onClick={() => {
                  select(gate.id);
                  fold();
                }}
              >
                <ConditionIcon condition={gate.condition} />
                <span class="gate-name" title={gate.name}>
                  {gate.name}
                </span>
                <span class="gate-state">
                  {CONDITION_NAMES[gate.condition]}
                  {gate.waiting > 0 && `, ${count(gate.waiting)} wait`}
                </span>
              </button>
            </li>
          ))}
        </ul>
        <p class="quiet filter-answer" role="status">
          {shown.length === 0 && gates.length > 0 && 'None has that name.'}
        </p>
        {more > 0 && (
          <p class="quiet pad">
            {count(more)} more are not followed: up to 200 are, those at work first.
          </p>
        )}
      </div>
    </nav>
  );
}
