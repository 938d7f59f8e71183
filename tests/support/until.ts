/**
 * Waits for a condition. Its limit is no assertion about time: it only ends a test that would hang, with what `describe` says
 * of how far things have come.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  withinMs = 180_000,
  describe: () => string | Promise<string> = () => condition.toString(),
): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${await describe()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
