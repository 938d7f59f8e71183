import { stat, statfs } from 'node:fs/promises'
import { messageOf } from '#runtime/errors.ts'
import { statePaths } from '../stack/state-directory.ts'
import type { System } from './find-system.ts'
import { ok, problem, warning, type Finding } from './finding.ts'

const minSecretLength = 16
const minFreeShare = 0.1

/** Whether secrets are set, and whether files with secrets are closed to other users. */
export async function examineSecrets(system: System): Promise<Finding[]> {
  const { environment, config, stateDirectory } = system
  const files = Object.entries(environment).flatMap(([name, file]) =>
    name.endsWith('_FILE') && file !== undefined && isSecret(name) ? [[name, file] as const] : [],
  )
  const paths = stateDirectory === undefined ? undefined : statePaths(stateDirectory)
  const own = paths === undefined ? [] : [paths.connection, paths.secrets].map((file) => ['', file] as const)
  const findings = [
    ...examineSet(environment, config.BODY_ENCRYPTION_KEYS.length > 0),
    ...(await Promise.all([...files, ...own].map(([name, file]) => examineFile(name, file)))).flat(),
  ]
  return findings.length > 0 ? findings : [ok('secrets', 'they are set, and closed to others')]
}

function isSecret(name: string): boolean {
  return /(KEYS?|SECRET|PASSWORD|DATABASE_URL)_FILE$/.test(name)
}

function examineSet(environment: NodeJS.ProcessEnv, encrypts: boolean): Finding[] {
  const secret = environment['INTERNAL_API_SECRET']
  const isShort = secret !== undefined && secret !== '' && secret.length < minSecretLength
  return [
    ...(encrypts
      ? []
      : [
          warning(
            'secrets',
            'BODY_ENCRYPTION_KEYS is not set: bodies lie readable in Kafka and Postgres',
            'k1:$(openssl rand -base64 32), the same for notifier and redteam, then scorer, then API, ingest and gateways that publish to Kafka; docs/secrets.md',
          ),
        ]),
    ...(isShort
      ? [
          problem(
            'secrets',
            `INTERNAL_API_SECRET has ${secret.length} characters: anyone who guesses it sees every project`,
            'openssl rand -hex 32, the same for API, ingest, dashboard, redteam and gateways that have it; docs/secrets.md',
          ),
        ]
      : []),
  ]
}

async function examineFile(name: string, file: string): Promise<Finding[]> {
  const of = name === '' ? file : `${name} (${file})`
  try {
    const { mode } = await stat(file)
    if ((mode & 0o007) === 0) return []
    const what = `${of} can be read by everybody on this host (mode ${(mode & 0o777).toString(8)})`
    return [problem('secrets', what, `chmod o= ${file}, and change what it held`)]
  } catch (error) {
    return [problem('secrets', `${of} cannot be read: ${messageOf(error)}`, 'mount it, or correct its path')]
  }
}

/** Whether the disk of a stack on this host has free space. Other hosts monitor their own disks. */
export async function examineDisk({ stateDirectory }: System): Promise<Finding[]> {
  if (stateDirectory === undefined) return []
  const { bavail, blocks } = await statfs(stateDirectory)
  const share = bavail / blocks
  const what = `${Math.round(share * 100)} % of the disk of ${stateDirectory} are free`
  if (share >= minFreeShare) return [ok('disk', what)]
  return [problem('disk', what, 'free space: Kafka and Postgres stop where there is none')]
}
