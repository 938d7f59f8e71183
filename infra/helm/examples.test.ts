import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { workloadsOf, parseResources } from './testing/chart-resources.ts'
import { findHelm, renderChart } from './render-chart.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const helm = findHelm(process.env['PATH']) ?? ''
const withHelm = helm === '' ? test.skip : test

const root = join(import.meta.dirname, '..', '..')
const examples = globSync('examples/*.yaml', { cwd: import.meta.dirname }).sort()
/** Read by Node, or by what opens connections to the outside. */
const ofTheProcess = ['NODE_EXTRA_CA_CERTS', 'UPSTREAM_PROXY_URL', 'NO_PROXY']

async function schemaOf(service: string): Promise<z.ZodObject> {
  const module = (await import(join(root, 'services', service, 'config.ts'))) as Record<string, unknown>
  const schema = Object.values(module).find((value) => value instanceof z.ZodObject)
  if (schema === undefined) throw new Error(`services/${service}/config.ts exports no schema`)
  return schema
}

test('there is an example for each form of the page', () => {
  expect(examples.map((path) => path.replace(/^examples\/|\.yaml$/g, ''))).toEqual([
    'confluent-and-aurora',
    'egress-proxy',
    'msk-and-rds',
    'openshift',
    'redpanda',
    'strimzi-and-cloudnativepg',
  ])
})

withHelm.each(examples)(
  '%s gives every process variables that it knows, with values that it takes',
  async (file) => {
    const workloads = workloadsOf(parseResources(await renderChart(helm, [], [file])))
    expect(workloads.map(({ name }) => name).sort()).toEqual([
      'api',
      'dashboard',
      'gateway',
      'migrate',
      'notifier',
      'redteam',
      'scorer',
      'sink',
    ])
    for (const { name, container } of workloads) {
      if (name === 'migrate') continue
      const { shape } = await schemaOf(name)
      const wrong = container.env.filter(({ name: variable, value }) => {
        const field = shape[variable] as z.ZodType | undefined
        if (field === undefined) return !ofTheProcess.includes(variable)
        return value !== undefined && !field.safeParse(value).success
      })
      expect({ name, wrong }).toEqual({ name, wrong: [] })
      const given = new Set(container.env.map(({ name: variable }) => variable))
      const needed = Object.keys(shape).filter(
        (key) => !(shape[key] as z.ZodType).safeParse(undefined).success,
      )
      // DATABASE_URL is made of its parts.
      const missing = needed.filter(
        (key) => !given.has(key) && !(key === 'DATABASE_URL' && given.has('DATABASE_HOST')),
      )
      expect({ name, missing }).toEqual({ name, missing: [] })
    }
  },
)

withHelm.each(examples)(
  '%s lets processes out to the ports of its brokers, registry and Postgres',
  async (file) => {
    const resources = parseResources(await renderChart(helm, [], [file]))
    const sink = workloadsOf(resources).find(({ name }) => name === 'sink')
    const variables = Object.fromEntries(sink?.container.env.map(({ name, value }) => [name, value]) ?? [])
    const registry = variables['SCHEMA_REGISTRY_URL'] ?? 'https://in-the-secret.example'
    const { port, protocol } = new URL(registry)
    const ports = [
      ...(variables['KAFKA_BROKERS'] ?? '').split(',').map((broker) => Number(broker.split(':').at(-1))),
      Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port),
      Number(variables['DATABASE_PORT'] ?? 5432),
    ]
    const policy = resources.find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'sluice-sink',
    )
    const open = policy?.spec.egress.flatMap((rule) => (rule.ports ?? []).map((one) => one.port)) ?? []
    expect(open).toEqual(expect.arrayContaining(ports))
  },
)
