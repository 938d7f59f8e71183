const windowMs = 1_000

/**
 * Calls `say` at most `most` times a second for each kind, with the number suppressed before: on a full disk
 * every call logs the same. Kinds are a fixed set. A metric counts all; the last suppressed ones are never
 * reported.
 */
export function createThrottledLog(most: number, now: () => number = Date.now) {
  const windows = new Map<string, { fromMs: number; said: number; unsaid: number }>()
  return (kind: string, say: (unsaid: number) => void): void => {
    const nowMs = now()
    let window = windows.get(kind)
    // A clock that was set back starts a new window.
    if (window === undefined || nowMs < window.fromMs || nowMs - window.fromMs >= windowMs) {
      window = { fromMs: nowMs, said: 0, unsaid: window?.unsaid ?? 0 }
      windows.set(kind, window)
    }
    if (window.said === most) {
      window.unsaid++
      return
    }
    window.said++
    say(window.unsaid)
    window.unsaid = 0
  }
}
