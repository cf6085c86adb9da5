import type { Clock } from '../model/clock.ts';
import { type Body, type BodyHolder, heldBody } from './held-body.ts';

/**
 * The same response, whose `holder` is told when its body has ended. One that has no body, or says
 * no, has ended with its head: whoever looks at a status alone must not hold a slot.
 */
export function heldResponse(response: Response, holder: BodyHolder, clock: Clock): Response {
  if (!(response instanceof Response) || !response.ok || response.body === null) return response;
  return withBody(heldBody(response.body, holder, clock), response);
}

/** A response with another body, and with all that a new one cannot be told. */
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
