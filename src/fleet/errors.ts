import { HeadgateError } from '../model/errors.ts';

/** Another worker of the key runs a newer version of headgate, whose protocol this one does not know. */
export class StoreProtocolError extends HeadgateError {
  readonly code = 'STORE_PROTOCOL';
  constructor(own: number, theirs: number) {
    super(
      `workers of this key speak version ${theirs} of the protocol, this one version ${own}: update headgate here, or give this worker another \`key\``,
    );
  }
}
