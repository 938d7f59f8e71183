import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits for a condition. Its limit is no assertion about time: it only ends a test that would hang, with what `describe` says
 * of how far things have come. What takes seconds is asked for ten times a second: the parts that are waited for run on the same
 * cores as the question.
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
