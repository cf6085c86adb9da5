import type { Clock } from '../util/clock.ts';
import { type Body, type BodyHolder, heldBody } from './held-body.ts';

/**
 * The same response; `holder` is called when its body has ended. A response without a body, or that
 * is not ok, ends with its head: a caller that reads only the status must not hold a slot.
 */
export function heldResponse(response: Response, holder: BodyHolder, clock: Clock): Response {
  if (!(response instanceof Response) || !response.ok || response.body === null) return response;
  return withBody(heldBody(response.body, holder, clock), response);
}

/** A response with another body, and with the fields that a constructor cannot set. */
function withBody(body: Body | null, from: Response): Response {
  const { status, statusText, headers, url, redirected, type } = from;
  const response = new Response(body, { status, statusText, headers });
  const clone = response.clone.bind(response);
  return Object.defineProperties(response, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    clone: { value: () => withBody(clone().body, response) },
  });
}
