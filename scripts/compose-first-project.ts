import { join } from 'node:path'
import { z } from 'zod'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { internalSecret, parseConfig } from '#runtime/config.ts'
import { baseUrl } from '#runtime/config-addresses.ts'
import { ensureFirstProject } from './stack/first-project.ts'
import { callsToTry } from './stack/print-summary.ts'
import { runCommand } from './stack/run-command.ts'
import { writeSecret } from './stack/secret-files.ts'

/**
 * Run by docker-compose.kafka.yml when the API answers. Gives the gateway a project to record into (the first
 * one, unless SERVICE_API_KEY is given) and prints the addresses.
 */
const schema = z.object({
  API_BACKEND_URL: baseUrl(),
  INTERNAL_API_SECRET: internalSecret(),
  PROXY_API_KEY: z.string(),
  SERVICE_API_KEY: z.string().optional(),
  UPSTREAM_URL: z.string(),
  // Addresses on the host.
  GATEWAY_URL: baseUrl(),
  PUBLIC_BASE_URL: baseUrl(),
  DASHBOARD_URL: baseUrl(),
})

async function run(): Promise<void> {
  const [services = '/var/lib/sluice/secrets', gateway = '/var/lib/sluice/gateway'] = process.argv.slice(2)
  const parsed = parseConfig(schema, process.env)
  if (!parsed.ok) throw new CannotStart(`the configuration is wrong\n${parsed.problems.join('\n')}`)
  const config = parsed.value
  const file = join(services, 'project.json')
  const key =
    config.SERVICE_API_KEY ??
    (await ensureFirstProject(config.API_BACKEND_URL, config.INTERNAL_API_SECRET, file, 'gateway')).api_key
  await writeSecret(gateway, 'SERVICE_API_KEY', key)
  console.log(`
Sluice is up as soon as the gateway has started.

  dashboard  ${config.DASHBOARD_URL}  (sign in as admin; the log of the service dashboard has the first password)
  gateway    ${config.GATEWAY_URL}  →  ${config.UPSTREAM_URL}
  API        ${config.PUBLIC_BASE_URL}  (documentation at ${config.PUBLIC_BASE_URL}/docs)

${callsToTry({
  base_url: config.PUBLIC_BASE_URL,
  proxy_url: config.GATEWAY_URL,
  proxy_api_key: config.PROXY_API_KEY.split(',')[0]?.trim() ?? '',
  api_key: key,
})}`)
}

await runCommand(run)
