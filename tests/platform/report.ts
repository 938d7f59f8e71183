import { messageOf } from '#runtime/errors.ts'
import type { Say } from '#infra/embedded/embedded-part.ts'

/** Counts checks by result. */
export interface Report {
  /** Resolves to whether it holds; independent checks continue. */
  check(name: string, work: () => unknown): Promise<boolean>
  /** A check that all following ones need. Throws {@link Stopped}. */
  need<T>(name: string, work: () => T | Promise<T>): Promise<T>
  /**
   * A check that could not run, with the reason. For a whole part this is a failure: it was requested by
   * name.
   */
  skip(name: string, why: string): void
  fail(name: string, error: unknown): void
  /** The last line. */
  summary(): string
  readonly failed: number
}

/** The failure is in the report already. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

export function createReport(say: Say): Report {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const fail = (name: string, error: unknown) => {
    counts.failed += 1
    say(`FAILED   ${name}: ${messageOf(error)}`)
  }
  const pass = (name: string, startedMs: number) => {
    counts.passed += 1
    say(`ok       ${name} (${Math.round((performance.now() - startedMs) / 1000)} s)`)
  }
  const need = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    const startedMs = performance.now()
    try {
      const value = await work()
      pass(name, startedMs)
      return value
    } catch (error) {
      fail(name, error)
      throw new Stopped(name, { cause: error })
    }
  }
  return {
    need,
    check: (name, work) =>
      need(name, work).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof Stopped)) throw error
          return false
        },
      ),
    skip: (name, why) => {
      counts.skipped += 1
      say(`NOT RUN  ${name}: ${why}`)
    },
    fail,
    summary: () => {
      const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`
      return `${counts.passed} passed, ${counts.failed} failed${skipped}`
    },
    get failed() {
      return counts.failed
    },
  }
}
