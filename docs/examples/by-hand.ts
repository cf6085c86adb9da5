import {
  backoffGate,
  byteBudget,
  byteEstimate,
  chunkBy,
  concurrencyLimit,
  dispatch,
  FeedbackSubject,
} from 'headgate';
import { from } from 'rxjs';

const feedback = new FeedbackSubject();

from(['ant', 'bee', 'cat', 'dog', 'eel'])
  .pipe(
    byteEstimate(),
    chunkBy({ maxItems: 2 }),
    concurrencyLimit({ concurrency: 8, feedback }),
    byteBudget({ maxBytes: 1_000_000, feedback }),
    backoffGate({ feedback }),
    dispatch(async (words: string[]) => words.join('+'), { feedback }),
  )
  .subscribe((answer) => console.log(answer)); // ant+bee, cat+dog, eel
