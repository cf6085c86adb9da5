import { Observable, type OperatorFunction } from 'rxjs';
import type { Chunk } from '../model/chunk.ts';
import type { Sized } from '../model/sized.ts';
import {
  type ChunkOptions as PlainOptions,
  chunkBy as plainChunkBy,
} from '../operators/chunk-by.ts';
import type { Watched } from '../telemetry/telemetry.ts';
import { split, withTelemetry } from './watched.ts';

export interface ChunkOptions extends PlainOptions, Watched {}

/**
 * Groups values into chunks that are sent as one request each. An exact fit stays in; an item over
 * the byte cap forms a chunk alone; no chunk is empty. The end of the source closes the open chunk,
 * an error drops it. Stands between `byteEstimate` and the first gate.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * data$.pipe(byteEstimate(), chunkBy({ maxItems: 128 }), throttle((batch) => train(batch)))
 */
export function chunkBy<T>(options: ChunkOptions = {}): OperatorFunction<Sized<T>, Chunk<T>> {
  const { watched, plain } = split(options);
  const unwatched = plainChunkBy<T>(plain);
  return (source) =>
    new Observable((out) => {
      const options = withTelemetry(plain, watched);
      const chunks = options === plain ? unwatched : plainChunkBy<T>(options);
      chunks(source).subscribe(out);
    });
}
