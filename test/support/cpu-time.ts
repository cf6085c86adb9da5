/** The CPU time of this process so far, in ms, which does not depend on other programs. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
