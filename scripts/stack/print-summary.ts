import { registryAddress } from '#runtime/kafka/registry-address.ts'
import { statePaths } from './state-directory.ts'
import type { Administrator } from './first-administrator.ts'
import type { Connection } from './connection.ts'
import type { RunningStack } from './start-stack.ts'

/** Addresses of everything. Later summaries lack what only the start knew. */
export function addressesOf(
  connection: Connection,
  stateDirectory: string,
  { signIn = '', upstream = '' }: { signIn?: string; upstream?: string } = {},
): string {
  const { base_url, proxy_url, dashboard_url, kafka_brokers } = connection
  const paths = statePaths(stateDirectory)
  return `  dashboard  ${dashboard_url}${signIn}
  gateway    ${proxy_url}${upstream}
  API        ${base_url}  (documentation at ${base_url}/docs)
  Kafka      ${kafka_brokers}
  registry   ${registryAddress(connection.schema_registry_url).host}
  Postgres   ${new URL(connection.database_url).host}
  keys       ${paths.connection}
  logs       ${paths.log('<process>')}`
}

/** Printed when everything is up: the addresses, and one call to try. */
export function summaryOf(
  { connection, administrator, upstream }: Pick<RunningStack, 'connection' | 'administrator' | 'upstream'>,
  stateDirectory: string,
): string {
  return `
Sluice is up.

${addressesOf(connection, stateDirectory, { signIn: `  (${signInOf(administrator)})`, upstream: `  →  ${upstream}` })}

${callsToTry(connection)}`
}

/** A call through the gateway, and one that shows its record. */
export function callsToTry({
  base_url,
  proxy_url,
  proxy_api_key,
  api_key,
}: Pick<Connection, 'base_url' | 'proxy_url' | 'proxy_api_key' | 'api_key'>): string {
  return `Call a model through the gateway:

  curl ${proxy_url}/v1/chat/completions \\
    -H 'Authorization: Bearer ${proxy_api_key}' -H 'Content-Type: application/json' \\
    -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello from Sluice"}]}'

and see the recorded call a second later:

  curl '${base_url}/api/requests?limit=1' -H 'X-Service-Key: ${api_key}'
`
}

function signInOf({ login, password }: Administrator): string {
  return password === undefined
    ? `sign in as ${login}`
    : `sign in as ${login} with the password ${password}, shown this once`
}
