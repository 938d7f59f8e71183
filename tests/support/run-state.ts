import type { Addresses } from '#infra/embedded/start-temporary.ts'

/** What global-setup hands to global-teardown. */
export interface TestRun extends Addresses {
  /** Part of every name that the run gives to topics and databases. */
  id: string
  /** Ends what the run started; nothing when it found a running set. */
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
