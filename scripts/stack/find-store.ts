import { resolve } from 'node:path'
import type { Connection } from './connection.ts'
import { completeEnvironment, overrideEnvironment } from './override-environment.ts'
import type { Secrets } from './secrets.ts'
import { readWritten, statePaths } from './state-directory.ts'

/**
 * The database of calls, the keys of their bodies, and the dashboard's URL: from `environment`, completed by
 * the stack in `state` (.sluice). Throws CannotStart.
 */
export async function findStore(
  state: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  const isNamed = ['DATABASE_URL', 'DATABASE_URL_FILE', 'DATABASE_HOST'].some(
    (name) => environment[name] !== undefined,
  )
  if (state === undefined && isNamed) return environment
  const paths = statePaths(resolve(state ?? '.sluice'))
  const instead = 'DATABASE_URL and BODY_ENCRYPTION_KEYS'
  const connection = await readWritten<Connection>(paths.connection, instead)
  const secrets = await readWritten<Secrets>(paths.secrets, instead)
  const its = {
    BODY_ENCRYPTION_KEYS: secrets.BODY_ENCRYPTION_KEYS,
    DASHBOARD_URL: connection.dashboard_url,
  }
  return overrideEnvironment(completeEnvironment(environment, its), { DATABASE_URL: connection.database_url })
}
