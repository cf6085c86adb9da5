/** What the size of a request was estimated from; `custom`: an estimator of the user said it. */
export type SizedKind =
  | 'text'
  | 'binary'
  | 'image'
  | 'tokens'
  | 'tensor'
  | 'chat'
  | 'json'
  | 'custom';
