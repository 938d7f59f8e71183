import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { TransientError } from '#runtime/errors.ts'
import { areSessionsShared } from '#runtime/own-sessions.ts'

/**
 * Whether the user can fix it, such as a Postgres, Kafka or registry that is down: printed as a sentence.
 * Anything else is a defect and shown with its stack.
 */
function isTheirs(error: unknown): error is Error {
  return error instanceof CannotStart || error instanceof TransientError || areSessionsShared(error)
}

/** Runs a script to its exit code: 2 if it could not do what was asked, with a message. */
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
