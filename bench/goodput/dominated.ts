/** Whether a peer is better than headgate in both figures at once. */
import { type Cells, round } from './cells.ts';
import type { Knowledge } from './client.ts';
import { type ClientName, clients, isClientName } from './clients/index.ts';

/** A cell of headgate in which a peer let more through and was turned away less. */
export interface Domination {
  readonly scenario: string;
  readonly client: ClientName;
  readonly by: ClientName;
  /** How much more the peer let through, in % of what the provider allowed. */
  readonly moreGoodput: number;
  /** How much less it was turned away, for each 1000 successes. */
  readonly lessRejected: number;
  /** Whether the peer had been told more of the provider than headgate. */
  readonly toldMore: boolean;
}

const RANKS: Readonly<Record<Knowledge, number>> = {
  nothing: 0,
  headers: 1,
  limits: 2,
  everything: 3,
};

export function dominated(cells: Cells): Domination[] {
  const found: Domination[] = [];
  for (const [scenario, row] of Object.entries(cells)) {
    const names = Object.keys(row).filter(isClientName);
    for (const client of names.filter(isHeadgate)) {
      for (const by of names.filter(isPeer)) {
        const moreGoodput = (row[by]?.goodput ?? 0) - (row[client]?.goodput ?? 0);
        const lessRejected =
          (row[client]?.rejectedPerMille ?? 0) - (row[by]?.rejectedPerMille ?? 0);
        if (moreGoodput <= 0 || lessRejected <= 0) continue;
        const toldMore = rank(by) > rank(client);
        found.push({
          scenario,
          client,
          by,
          moreGoodput: round(moreGoodput, 2),
          lessRejected: round(lessRejected, 2),
          toldMore,
        });
      }
    }
  }
  return found;
}

function isHeadgate(name: ClientName): boolean {
  return name.startsWith('headgate');
}

function isPeer(name: ClientName): boolean {
  return !isHeadgate(name) && name !== 'omniscient';
}

function rank(name: ClientName): number {
  return RANKS[clients[name].knows];
}
