/** Finds the cells in which a peer is better than headgate in both figures. */
import { type Cells, round } from './cells.ts';
import type { Knowledge } from './client.ts';
import { type ClientName, clients, isClientName } from './clients/index.ts';

/** A cell in which a peer had more goodput and fewer rejections than headgate. */
export interface Domination {
  readonly scenario: string;
  readonly client: ClientName;
  readonly by: ClientName;
  /** The peer's additional goodput, in % of the amount that the provider allowed. */
  readonly moreGoodput: number;
  /** The difference in rejections for each 1000 successes. */
  readonly lessRejected: number;
  /** Whether the peer had more information about the provider than headgate. */
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
