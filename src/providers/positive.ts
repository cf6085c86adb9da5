/** The number if it is finite and above 0; undefined for anything else a provider may send. */
export function positive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}
