import { concurrencyLimit, dispatch } from 'headgate';
import { filter, range } from 'rxjs';

range(1, 6)
  .pipe(
    concurrencyLimit<number>({ concurrency: 1 }),
    filter((ticket) => {
      const isWanted = ticket.value % 2 === 0;
      if (!isWanted) ticket.settle('cancelled');
      return isWanted;
    }),
    dispatch(async (n: number) => n),
  )
  .subscribe((n) => console.log(n)); // 2, 4, 6
