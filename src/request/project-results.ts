import { from, type Observable, type ObservableInput } from 'rxjs';
import { wrongType } from '../util/check.ts';

/**
 * The values of what a project has returned. @throws TypeError if it has returned something else,
 * such as nothing
 */
export function resultsOf<R>(returned: ObservableInput<R>): Observable<R> {
  try {
    return from(returned);
  } catch {
    return wrongType('project()', 'an Observable, a promise or an iterable', returned);
  }
}
