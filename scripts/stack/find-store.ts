import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Connection } from './connection.ts'
import { overrideEnvironment } from './override-environment.ts'
import { isSet } from './plan-services.ts'
import type { Secrets } from './secrets.ts'
import { statePaths } from './state-directory.ts'

/** Where calls are kept, the keys of their bodies, and where people read about them: `environment` where it says, else that with those of the stack in `state` (.sluice). Throws CannotStart. */
export async function findStore(
  state: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  const given = environment['DATABASE_URL'] ?? environment['DATABASE_URL_FILE']
  if (state === undefined && given !== undefined) return environment
  const paths = statePaths(resolve(state ?? '.sluice'))
  try {
    const connection = JSON.parse(await readFile(paths.connection, 'utf8')) as Connection
    const secrets = JSON.parse(await readFile(paths.secrets, 'utf8')) as Secrets
    const its = {
      BODY_ENCRYPTION_KEYS: secrets.BODY_ENCRYPTION_KEYS,
      DASHBOARD_URL: connection.dashboard_url,
    }
    const isGiven = (name: string) => isSet(environment[name]) || isSet(environment[`${name}_FILE`])
    const missing = Object.entries(its).filter(([name]) => !isGiven(name))
    return overrideEnvironment(environment, {
      DATABASE_URL: connection.database_url,
      ...Object.fromEntries(missing),
    })
  } catch (error) {
    throw new CannotStart(
      `cannot read ${paths.connection} (${messageOf(error)}): name a running stack with --state, or set DATABASE_URL and BODY_ENCRYPTION_KEYS`,
    )
  }
}
