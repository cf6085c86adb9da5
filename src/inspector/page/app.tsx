import { useEffect } from 'preact/hooks';
import { clockTime, count } from '../format.ts';
import type { GateDetail } from '../wire.ts';
import { TimeLines } from './charts.tsx';
import { useChosenView } from './chosen-gate.ts';
import type { LinkState } from './connection.ts';
import { ControlPanel } from './controls.tsx';
import { Fleet } from './fleet.tsx';
import { GateList } from './gate-list.tsx';
import { Limits } from './limits.tsx';
import { type Linked, useLinkedRequest } from './linked-request.ts';
import { Pipeline } from './pipeline.tsx';
import { Requests } from './requests.tsx';
import { Status } from './status.tsx';
import { CONDITION_NAMES } from './status-words.ts';

const LINKS: Readonly<Record<LinkState, string>> = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'Not reachable',
  ended: 'Ended',
  gone: 'Not kept',
  tooLarge: 'Too much to show',
};

/** The notice at the top of the page while the page does not show the present state. */
const NOTICES: Readonly<Partial<Record<LinkState, string>>> = {
  lost: 'The program cannot be reached: it has ended, or is busy.',
  ended: 'The program has closed its inspector.',
  gone: 'This limiter or stream is not kept any more.',
  tooLarge: 'There are too many limiters and streams to show.',
};

export function App({ token }: { readonly token: string | undefined }) {
  const { view, select } = useChosenView();
  const { hello, detail, link, gates, more, points, at } = view;
  const run = hello?.startedAt ?? 0;
  const { linked, open, close } = useLinkedRequest(hello?.startedAt);
  const linkedGate = linked.state === 'found' ? linked.found.gate : undefined;
  const shownGate = detail?.id;
  useEffect(() => {
    if (linkedGate !== undefined && linkedGate !== shownGate) select(linkedGate);
  }, [linkedGate, shownGate]);
  const choose = (gate: number) => {
    close();
    select(gate);
  };
  useEffect(() => {
    document.title = titleOf(detail, link);
  }, [detail, link]);
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: the link moves the focus within the page. */}
      <a class="skip" href="#main" onClick={skip}>
        Skip to the limiter
      </a>
      <header class="top">
        <img src="icon.svg" alt="" width="24" height="24" />
        <b>headgate</b>
        <span class="program quiet clip">
          {hello !== undefined && `${hello.program}, process ${hello.pid}, Node ${hello.node}`}
        </span>
        <span class={`link-state is-${link}`} role="status">
          <span class="lamp" aria-hidden="true" />
          {LINKS[link]}
        </span>
      </header>
      <div class="page">
        <GateList gates={gates} more={more} selected={shownGate} select={choose} />
        <main id="main" tabIndex={-1} class={NOTICES[link] === undefined ? '' : 'is-stale'}>
          <Notice link={link} at={at} />
          <LinkNotice
            linked={linked}
            close={() => {
              close();
              focusMain();
            }}
          />
          {detail === undefined ? (
            <Nothing isConnecting={link === 'connecting'} />
          ) : (
            <>
              <Status detail={detail} at={at} />
              <Pipeline detail={detail} />
              <TimeLines points={points} at={at} />
              <Requests
                key={run}
                gate={detail.id}
                hasEnded={Object.values(detail.ended).some((requests) => requests > 0)}
                run={run}
                linked={linked}
                open={open}
                close={close}
                isLive={link === 'live'}
                showsValues={hello?.showsValues === true}
                traceUrl={hello?.traceUrl}
              />
              <Limits limits={detail.limits} isShared={detail.fleet !== undefined} />
              {detail.fleet !== undefined && <Fleet fleet={detail.fleet} />}
              <ControlPanel key={`${run} ${detail.id}`} detail={detail} token={token} />
            </>
          )}
        </main>
      </div>
    </>
  );
}

/** Moves the focus only: the address names the open request, and keeps it. */
function skip(event: Event): void {
  event.preventDefault();
  focusMain();
}

function focusMain(): void {
  document.getElementById('main')?.focus();
}

function Notice({ link, at }: { readonly link: LinkState; readonly at: number }) {
  const words = NOTICES[link];
  if (words === undefined) return null;
  return (
    <p class="notice" role="alert">
      {words}
      {at > 0 && ` This is its state at ${clockTime(at)}.`}
    </p>
  );
}

const LINK_NOTICES: Readonly<Partial<Record<Linked['state'], string>>> = {
  otherRun:
    'This address is of a request of an earlier run of the program. Nothing is known of it any more.',
  unknown:
    'The request of this address is not known: it has not ended, or it is not kept. ' +
    'Up to 2,000 requests of the last 15 minutes are kept.',
};

/** The notice that the request in the address cannot be shown. */
function LinkNotice({ linked, close }: { readonly linked: Linked; readonly close: () => void }) {
  const words = LINK_NOTICES[linked.state];
  if (words === undefined) return null;
  return (
    <div class="notice is-link" role="alert">
      <p>{words}</p>
      <button type="button" class="back" onClick={close}>
        Close
      </button>
    </div>
  );
}

/** Sets the title of the browser's tab: `Held back, 85 wait: chat`. */
function titleOf(detail: GateDetail | undefined, link: LinkState): string {
  if (detail === undefined) return 'headgate inspector';
  const { condition, waiting, name } = detail;
  // The last state that was received may be over.
  if (link === 'lost' || link === 'ended' || link === 'gone') return `${LINKS[link]}: ${name}`;
  const waits = waiting > 0 ? `, ${count(waiting)} wait` : '';
  return `${CONDITION_NAMES[condition]}${waits}: ${name}`;
}

function Nothing({ isConnecting }: { readonly isConnecting: boolean }) {
  if (isConnecting) return <p class="empty">Connecting …</p>;
  return (
    <section class="nothing">
      <h1>No limiter and no stream yet</h1>
      <p>
        Each <code>createLimiter()</code>, each key of a group, and each stream through{' '}
        <code>throttle()</code> of this process shows up here by itself.
      </p>
    </section>
  );
}
