import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { TransientError } from '#runtime/errors.ts'
import { areSessionsShared } from '#runtime/own-sessions.ts'

/** What the person at the terminal can mend, Postgres, Kafka or the registry being away among it: told in a sentence. Anything else is a defect, shown with where it came from. */
function isTheirs(error: unknown): error is Error {
  return error instanceof CannotStart || error instanceof TransientError || areSessionsShared(error)
}

/** A script from its first line to its exit code: 2 when it could not do what was asked and the message says why. */
export async function runCommand(
  run: () => Promise<void>,
  isExpected: (error: unknown) => error is Error = isTheirs,
): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!isExpected(error)) throw error
    process.stderr.write(`sluice: ${error.message}\n`)
    process.exitCode = 2
  }
}
