/** A common solution without knowledge of the limit: some slots, and the retries of an SDK. */
import pLimit from 'p-limit';
import { type Client, type ClientContext, send } from '../client.ts';
import { withRetries } from './retries.ts';

const SLOTS = 20;

export const pLimitClient = {
  'p-limit': {
    about: `p-limit(${SLOTS}), retries as in an SDK: ten, 0.5 to 8 s, Retry-After is obeyed`,
    run: ({ endpoint, requests }: ClientContext) => {
      const limit = pLimit(SLOTS);
      // The request keeps its slot while it waits for a retry, as in a call of an SDK.
      const ask = () => limit(() => withRetries(() => send(endpoint)));
      return Promise.all(Array.from({ length: requests }, ask));
    },
  },
} satisfies Record<string, Client>;
