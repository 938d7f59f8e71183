import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { ApiBackend } from './forwarding/api-backend.ts'
import { Problem } from '#http/problem.ts'

interface First {
  created: boolean
  login?: string
  password?: string
}

interface MakeAdministratorOptions {
  api: ApiBackend
  login: string
  password: string | undefined
  /** Standard output for people, not the log: logs are kept. */
  print: (text: string) => void
  log: Log
  clock: Clock
}

const retryMs = 2_000

/**
 * Creates the first administrator once the API answers, if there is nobody yet, and prints the generated
 * password once.
 */
export async function makeAdministrator(
  options: MakeAdministratorOptions,
  signal: AbortSignal,
): Promise<void> {
  const { api, login, password, print, log, clock } = options
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      const body = { login, ...(password === undefined ? {} : { password }) }
      const first = await api.call<First>('POST', '/internal/people/first', { address: undefined }, body)
      if (first.created) log.info({ login }, 'the first administrator was made')
      if (first.password !== undefined) {
        print(
          `\nThe dashboard's first administrator is ${login} with the password ${first.password}\nIt is shown this once.\n\n`,
        )
      }
      return
    } catch (error) {
      // Retry if the API is down or not migrated. Other errors are permanent.
      if (!(error instanceof Problem) || error.status < 500) throw error
      if (tries === 0) log.warn({ err: error }, 'waiting for the API to make the first administrator')
      await clock.sleep(retryMs, signal)
    }
  }
}
