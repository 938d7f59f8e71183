import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits for a condition. The limit asserts nothing about time; it ends a test that hangs, with `describe` as
 * the message. Long waits poll ten times a second: what is waited for shares the same cores.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  withinMs = 180_000,
  describe: () => string | Promise<string> = () => condition.toString(),
): Promise<void> {
  const deadline = Date.now() + withinMs
  let pauseMs = 20
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${await describe()}`)
    await sleep(pauseMs)
    pauseMs = Math.min(100, pauseMs * 1.2)
  }
}

/** Reads until the value is accepted, and returns it. Like `until`, with the last value as the message. */
export async function eventually<T>(
  read: () => T | Promise<T>,
  accept: (value: T) => boolean,
  withinMs = 180_000,
): Promise<T> {
  let value: T | undefined
  const isAccepted = async () => accept((value = await read()))
  await until(isAccepted, withinMs, () => `still ${JSON.stringify(value).slice(0, 500)}`)
  return value as T
}
