/** What this process has computed so far, in ms: unlike the time of day, other programs do not add to it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
