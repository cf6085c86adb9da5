/** Keeps a text for this tab until it is closed. A browser that blocks the data of sites throws. */
export function keepInTab(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // A reload forgets it.
  }
}

/** @returns undefined: nothing was kept, or the browser blocks it */
export function keptInTab(key: string): string | undefined {
  try {
    return sessionStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}
