import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { z } from 'zod'
import { planPorts } from '#scripts/stack/plan-ports.ts'
import { planServices } from '#scripts/stack/plan-services.ts'
import { definitionOf, processNames, services, type ServiceName } from '#schemas/services.ts'

const root = join(import.meta.dirname, '..')
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')
const names = Object.keys(services) as ServiceName[]

interface Compose {
  services: Readonly<Record<string, { environment?: Readonly<Record<string, unknown>> } | undefined>>
}
interface Prometheus {
  scrape_configs: { static_configs: { targets: string[]; labels: { service: string } }[] }[]
}
type Values = Readonly<Record<string, { autoscaling?: object } | undefined>>

const compose = parse(read('docker-compose.kafka.yml'), { merge: true }) as Compose
const prometheus = parse(read('infra', 'prometheus', 'prometheus.yml')) as Prometheus
const values = parse(read('infra', 'helm', 'values.yaml')) as Values
const valuesSchema = JSON.parse(read('infra', 'helm', 'values.schema.json')) as { properties: object }
const started = startedByUp()
const targets = prometheus.scrape_configs.flatMap((job) => job.static_configs.flatMap((one) => one.targets))

function startedByUp(): readonly string[] {
  const plans = planServices({
    ports: planPorts(0),
    addresses: { KAFKA_BROKERS: '', SCHEMA_REGISTRY_URL: '', DATABASE_URL: '' },
    secrets: {
      INTERNAL_API_SECRET: '',
      PROXY_API_KEY: '',
      SPOOL_KEY: '',
      BODY_ENCRYPTION_KEYS: '',
      SEARCH_KEY: '',
    },
    spoolDirectory: '',
    environment: {},
  })
  return [plans.api, ...plans.consumers, plans.gateway(''), plans.dashboard].map(({ name }) => name)
}

/** What is missing, each with where to add it. */
async function missingOf(name: ServiceName): Promise<string[]> {
  const { operationsPort, servedBy, port, scaledBy = [] } = definitionOf(name)
  const files = ['main.ts', 'config.ts', 'service.ts', 'README.md'].map((file) =>
    join('services', name, file),
  )
  const config = await defaultsOf(name)
  const isProcess = servedBy === undefined
  const wanted: readonly (readonly [string, boolean])[] = [
    ...files.map((file) => [`${file} is missing`, existsSync(join(root, file))] as const),
    [
      `services/${name}/config.ts: OPS_PORT's default is not ${operationsPort}`,
      config('OPS_PORT') === operationsPort,
    ],
    [
      `services/${name}/config.ts: ${name.toUpperCase()}_PORT's default is not ${port}`,
      port === undefined || config(`${name.toUpperCase()}_PORT`) === port,
    ],
    ...(isProcess ? placesOf(name, operationsPort, scaledBy.length > 0) : []),
  ]
  return wanted.flatMap(([message, isThere]) => (isThere ? [] : [message]))
}

function placesOf(name: string, port: number, isScaled: boolean): [string, boolean][] {
  return [
    ['scripts/stack/plan-services.ts: scripts/up does not start it', started.includes(name)],
    [`docker-compose.kafka.yml: services has no ${name}`, compose.services[name] !== undefined],
    [
      `docker-compose.kafka.yml: services.${name}.environment.OPS_PORT is not ${port}`,
      compose.services[name]?.environment?.['OPS_PORT'] === port,
    ],
    [`infra/prometheus/prometheus.yml: no target '${name}:${port}'`, targets.includes(`${name}:${port}`)],
    [`infra/helm/values.yaml has no ${name}`, values[name] !== undefined],
    [
      `infra/helm/values.yaml: ${name}.autoscaling is missing`,
      !isScaled || values[name]?.autoscaling !== undefined,
    ],
    [`infra/helm/values.schema.json: properties has no ${name}`, name in valuesSchema.properties],
  ]
}

async function defaultsOf(name: string): Promise<(variable: string) => unknown> {
  const file = join(root, 'services', name, 'config.ts')
  if (!existsSync(file)) return () => undefined
  const module = (await import(file)) as Record<string, unknown>
  const schema = Object.values(module).find((value) => value instanceof z.ZodObject)
  return (variable) => (schema?.shape[variable] as z.ZodType | undefined)?.safeParse(undefined).data
}

test.each(names)('%s is listed everywhere that a service must be', async (name) => {
  expect(await missingOf(name)).toEqual([])
})

test('every folder with a main.ts has a row in schemas/services.ts, and nothing else is scraped', () => {
  const folders = globSync('*/main.ts', { cwd: join(root, 'services') }).map(dirname)
  expect(folders.filter((name) => !(name in services))).toEqual([])
  expect(targets.map((target) => target.split(':')[0]).sort()).toEqual([...processNames].sort())
})

test('no two processes listen on the same port', () => {
  const ports = processNames.flatMap((name) => {
    const { port, operationsPort } = definitionOf(name)
    return port === undefined ? [operationsPort] : [port, operationsPort]
  })
  expect(ports.filter((port, index) => ports.indexOf(port) !== index)).toEqual([])
})
