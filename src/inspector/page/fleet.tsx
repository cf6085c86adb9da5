import { bytes, count } from '../format.ts';
import type { FleetRow, FleetView } from '../wire.ts';

/** The table of the workers that share the limits of one key. */
export function Fleet({ fleet }: { readonly fleet: FleetView }) {
  const { headline, isAway, slots, rows, more } = fleet;
  const hasLeader = rows.some(({ leads }) => leads);
  return (
    <section aria-labelledby="fleet-title" class={isAway ? 'fleet is-away' : 'fleet'}>
      <h2 id="fleet-title">Workers of this key</h2>
      <p class="fleet-line">{headline}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it. */}
      <section class="scroll" tabIndex={0} aria-label="Table of workers">
        <table>
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">Doing</th>
              <th scope="col" class="number">
                Slots
              </th>
              <th scope="col" class="number">
                Bytes
              </th>
              <th scope="col" class="number">
                Sent a second
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Worker key={row.name} row={row} of={slots} />
            ))}
          </tbody>
        </table>
      </section>
      <p class="quiet">
        {isAway && 'This is what the store said last. '}
        {more > 0 && `${count(more)} more are not listed: those are that hold most. `}
        {hasLeader && 'One worker learns the rate for all; when it ends, another goes on.'}
      </p>
    </section>
  );
}

function Worker({ row, of }: { readonly row: FleetRow; readonly of: number }) {
  const { name, isThis, isActive, slots, perSecond, leads } = row;
  const share = of > 0 ? Math.min(1, slots / of) : 0;
  return (
    <tr>
      <th scope="row">
        {name}
        {isThis && <span class="quiet"> this one</span>}
      </th>
      <td data-label="Doing">
        <span>
          {isActive ? 'sends or waits' : 'nothing'}
          {leads && <span class="source is-learned">learns the rate</span>}
        </span>
      </td>
      <td class="number" data-label="Slots">
        <span>
          {count(slots)}
          <span class="quiet"> of {count(of)}</span>
        </span>
        <span class={`meter ${share >= 1 ? 'is-full' : ''}`} aria-hidden="true">
          <span style={{ transform: `scaleX(${share})` }} />
        </span>
      </td>
      <td class="number" data-label="Bytes">
        {bytes(row.bytes)}
      </td>
      <td class="number" data-label="Sent a second">
        {perSecond === undefined ? '–' : count(perSecond)}
      </td>
    </tr>
  );
}
