import type { Addresses } from '#infra/embedded/start-temporary.ts'

/** What global-setup passes to global-teardown. */
export interface TestRun extends Addresses {
  /** Part of the name of every topic and database of the run. */
  id: string
  /** Stops what the run started; does nothing if it found running parts. */
  readonly stop: () => Promise<void>
}

const holder = globalThis as { sluiceTestRun?: TestRun }

export function keepRun(run: TestRun): void {
  holder.sluiceTestRun = run
}

export function takeRun(): TestRun | undefined {
  const run = holder.sluiceTestRun
  delete holder.sluiceTestRun
  return run
}
