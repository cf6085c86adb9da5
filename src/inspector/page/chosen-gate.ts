import { useEffect, useState } from 'preact/hooks';
import type { GateSummary } from '../wire.ts';
import { useView, type View } from './connection.ts';
import { keepInTab, keptInTab } from './tab-storage.ts';

/** The limiter or stream that the user has chosen, of one run of an inspector. */
interface Chosen {
  /** 0: none, which is the busiest one. */
  readonly gate: number;
  /** When the inspector was started, in ms since 1970. */
  readonly run: number;
  /** Its name and kind, by which it is found after the program was restarted. */
  readonly name: string;
  readonly kind: GateSummary['kind'] | undefined;
}

const NONE: Chosen = { gate: 0, run: 0, name: '', kind: undefined };

const KEY = 'headgate.chosen';

/** Follows the limiter or stream that was chosen in this tab, also before a reload. */
export function useChosenView(): { readonly view: View; readonly select: (gate: number) => void } {
  const [chosen, setChosen] = useState(storedChoice);
  const view = useView(chosen);
  const { hello, gates, link, detail } = view;
  const run = hello?.startedAt ?? 0;
  const select = (gate: number) => {
    const { name = '', kind } = gates.find(({ id }) => id === gate) ?? {};
    const next = { gate, run, name, kind };
    keepInTab(KEY, JSON.stringify(next));
    setChosen(next);
  };
  useEffect(() => {
    if (chosen.gate === 0 || run === 0 || gates.length === 0) return;
    if (chosen.run !== run) {
      // The program was restarted: its limiters have other numbers.
      const same = gates.find(({ name, kind }) => name === chosen.name && kind === chosen.kind);
      if (same !== undefined) select(same.id);
    } else if (link === 'live' && detail === undefined) {
      // It was gone before the page was loaded again.
      setChosen(NONE);
    }
  }, [chosen, run, gates, link, detail === undefined]);
  return { view, select };
}

function storedChoice(): Chosen {
  const stored = keptInTab(KEY);
  return stored === undefined ? NONE : (JSON.parse(stored) as Chosen);
}
