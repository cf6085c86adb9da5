import { throttle } from 'headgate';
import { lastValueFrom, mergeMap, range, toArray } from 'rxjs';

const work = async (n: number) => n * n;

const before = range(1, 4).pipe(mergeMap(work, 2), toArray());
const after = range(1, 4).pipe(throttle(work, { concurrency: 2 }), toArray());
console.log(String(await lastValueFrom(before)), String(await lastValueFrom(after)));
