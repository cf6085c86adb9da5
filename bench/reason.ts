/** The line of a worker's output that names its error. */
export function reasonOf(error: unknown): string {
  const [first = '', ...lines] = String(error).split('\n');
  return lines.find((line) => /^(\w*Error|Warning)\b.*: /.test(line)) ?? first;
}
