import { bytes, count, duration, perWindow } from '../format.ts';
import type { LimitRow } from '../wire.ts';

const SOURCES: Readonly<Record<LimitRow['source'], string>> = {
  set: 'set by you',
  told: 'told by headers',
  learned: 'learned',
  shared: 'shared',
};

export function Limits({
  limits,
  isShared,
}: {
  readonly limits: readonly LimitRow[];
  readonly isShared: boolean;
}) {
  return (
    <section aria-labelledby="limits-title">
      <h2 id="limits-title">Limits</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it. */}
      <section class="scroll" tabIndex={0} aria-label="Table of limits">
        <table>
          <thead>
            <tr>
              <th scope="col">Limit</th>
              <th scope="col">Source</th>
              <th scope="col" class="number">
                Used
              </th>
              <th scope="col" class="number">
                Of
              </th>
              <th scope="col">Window left</th>
              <th scope="col">Details</th>
            </tr>
          </thead>
          <tbody>
            {limits.map((row) => (
              <Row key={`${row.source} ${row.name}`} row={row} />
            ))}
          </tbody>
        </table>
      </section>
      {!isShared && (
        <p class="quiet">No store is shared: only this process keeps to these limits.</p>
      )}
    </section>
  );
}

function Row({ row }: { readonly row: LimitRow }) {
  const { name, source, used, limit, windowMs, leftMs, note, unit } = row;
  const print = unit === 'bytes' ? bytes : unit === 'ms' ? duration : count;
  const share = used === undefined || !(limit > 0) ? undefined : Math.min(1, used / limit);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td data-label="Source">
        <span class={`source is-${source}`}>{SOURCES[source]}</span>
      </td>
      <td class="number" data-label="Used">
        {used === undefined ? '–' : print(used)}
        {share !== undefined && (
          <span class={`meter ${share >= 1 ? 'is-full' : ''}`} aria-hidden="true">
            <span style={{ transform: `scaleX(${share})` }} />
          </span>
        )}
      </td>
      <td class="number" data-label="Of">
        <span>
          {limit === null ? 'no limit' : print(limit)}
          {windowMs !== undefined && <span class="quiet"> {perWindow(windowMs)}</span>}
        </span>
      </td>
      <td data-label="Window left">{leftMs === undefined ? '–' : duration(leftMs)}</td>
      <td class={`quiet ${note === '' ? 'is-blank' : ''}`}>{note}</td>
    </tr>
  );
}
