import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { z } from 'zod'
import { definitionOf, processNames, type ProcessName } from '#schemas/services.ts'
import { topics } from '#schemas/topics.ts'
import { parseResources, workloadsOf, type Labels } from './testing/chart-resources.ts'
import { findHelm, renderChart } from './render-chart.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const helm = findHelm(process.env['PATH']) ?? ''
const withHelm = helm === '' ? test.skip : test

const root = join(import.meta.dirname, '..', '..')
const rendered = readFileSync(join(import.meta.dirname, 'rendered.yaml'), 'utf8')

const resources = parseResources(rendered)
const ofKind = (...kinds: string[]) => resources.filter(({ kind }) => kinds.includes(kind))
const workloads = workloadsOf(resources)
/** Read by Node itself; see docs/configuration.md. */
const ofNode = 'NODE_EXTRA_CA_CERTS'
const services = workloads.filter(({ name }) => name !== 'migrate')

async function schemaOf(service: string): Promise<z.ZodObject> {
  const module = (await import(join(root, 'services', service, 'config.ts'))) as Record<string, unknown>
  const schema = Object.values(module).find((value) => value instanceof z.ZodObject)
  if (schema === undefined) throw new Error(`services/${service}/config.ts exports no schema`)
  return schema
}

function fieldOf(schema: z.ZodObject, name: string): z.ZodType {
  return schema.shape[name] as z.ZodType
}

withHelm(
  'a Secret that the chart makes restarts pods when it changes; what is switched off or in a file is required of none',
  async () => {
    const variables = async (...settings: string[]) => {
      const all = workloadsOf(parseResources(await renderChart(helm, settings)))
      const api = all.find(({ name }) => name === 'api')
      return { sum: api?.annotations?.['checksum/secret'], env: api?.container.env ?? [] }
    }
    const [one, other] = [await variables('secrets.create.A=a'), await variables('secrets.create.A=b')]
    expect(one.sum).toMatch(/^[0-9a-f]{64}$/)
    expect(other.sum).not.toBe(one.sum)
    const settings = [
      'secrets.without={BODY_ENCRYPTION_KEYS}',
      'api.env.INTERNAL_API_SECRET_FILE=/a',
      'sink.autoscaling.max=12',
    ]
    const names = (await variables(...settings)).env.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['DATABASE_URL', 'INTERNAL_API_SECRET_FILE']))
    expect(names.filter((name) => /^(BODY_ENCRYPTION_KEYS|INTERNAL_API_SECRET)$/.test(name))).toEqual([])
  },
)

withHelm('every pod goes where pods may go, the migration too', async () => {
  const placed = parseResources(await renderChart(helm, ['nodeSelector.pool=a', 'tolerations[0].key=b']))
  const pods = placed.flatMap(({ kind, spec }) =>
    /^(Deployment|StatefulSet|Job)$/.test(kind) ? [spec.template.spec] : [],
  )
  expect(pods.length).toBe(workloads.length)
  for (const pod of pods)
    expect(pod).toMatchObject({ nodeSelector: { pool: 'a' }, tolerations: [{ key: 'b' }] })
})

const rules = readFileSync(join(root, 'infra', 'prometheus', 'sluice.rules.yml'), 'utf8')

test('the alerts are those of infra/prometheus', () => {
  expect(readFileSync(join(import.meta.dirname, 'files', 'sluice.rules.yml'), 'utf8')).toBe(rules)
})

withHelm('the alerts are in the PrometheusRule', async () => {
  const made = parseResources(await renderChart(helm, ['prometheusRule.enabled=true']))
  const { groups } = parse(rules) as { groups: unknown }
  expect(made.find(({ kind }) => kind === 'PrometheusRule')?.spec).toEqual({ groups })
})

test('every service runs, with the options for Node that it has', () => {
  expect(services.map(({ name }) => name).sort()).toEqual([...processNames].sort())
  for (const { name, container } of services) {
    const { nodeOptions } = definitionOf(name as ProcessName)
    const args = [nodeOptions, `services/${name}/main.ts`].filter((argument) => argument !== undefined)
    expect({ name, args: container.args }).toEqual({ name, args })
  }
})

test.each(services.map(({ name, container }) => [name, container] as const))(
  '%s is given variables that it knows, with values that it takes, and all that it needs',
  async (name, { env, ports = [] }) => {
    const schema = await schemaOf(name)
    const unknown = env.map((variable) => variable.name).filter((variable) => !(variable in schema.shape))
    expect(unknown).toEqual([ofNode])
    for (const { name: variable, value } of env) {
      // A file mounted in the container does not exist here, and its variable requires one.
      if (value === undefined || variable === ofNode || value.startsWith('/etc/sluice/')) continue
      const { success } = fieldOf(schema, variable).safeParse(value)
      expect({ variable, value, success }).toEqual({ variable, value, success: true })
    }
    const given = new Set(env.map((variable) => variable.name))
    const needed = Object.keys(schema.shape).filter(
      (key) => !fieldOf(schema, key).safeParse(undefined).success,
    )
    expect(needed.filter((key) => !given.has(key))).toEqual([])

    const listens = { ops: 'OPS_PORT', http: `${name.toUpperCase()}_PORT` }
    const expected = Object.values(listens).filter((key) => key in schema.shape)
    const numbers = expected.map((key) => fieldOf(schema, key).parse(undefined))
    expect(ports.map((port) => port.containerPort).sort()).toEqual(numbers.sort())
  },
)

test('secrets come from the Secret, to those who use them and to nobody else', () => {
  const holders = (secret: string) =>
    workloads
      .filter(({ container }) => container.env.some(({ name }) => name === secret))
      .map(({ name }) => name)
  expect(holders('BODY_ENCRYPTION_KEYS').sort()).toEqual(['api', 'notifier', 'redteam', 'scorer'])
  expect(holders('INTERNAL_API_SECRET').sort()).toEqual(['api', 'dashboard', 'redteam'])
  expect(holders('OPENAI_API_KEY')).toEqual(['scorer'])
  expect(holders('UPSTREAM_API_KEY')).toEqual(['gateway'])
  const stored = processNames.filter((name) => definitionOf(name).database !== undefined)
  expect(holders('DATABASE_URL').sort()).toEqual([...stored, 'migrate'].sort())
  for (const { name, container } of workloads) {
    for (const { name: variable, value, valueFrom } of container.env) {
      if (!/SECRET|KEY|PASSWORD|DATABASE_URL/.test(variable)) continue
      expect({ variable, value }).toEqual({ variable, value: undefined })
      const secret = name === 'notifier' ? 'sluice-notifier' : 'sluice'
      expect(valueFrom?.secretKeyRef).toMatchObject({ name: secret, key: variable })
    }
  }
})

test('no pod starts without the secrets that it must have', () => {
  const required = Object.fromEntries(
    workloads.map(({ name, container }) => [
      name,
      container.env
        .filter(({ valueFrom }) => valueFrom?.secretKeyRef.optional === false)
        .map((variable) => variable.name)
        .sort(),
    ]),
  )
  const data = [
    'DATABASE_SSL_CA',
    'DATABASE_URL',
    'KAFKA_SASL_PASSWORD',
    'KAFKA_SASL_USERNAME',
    'KAFKA_SSL_CA',
  ]
  const consumers = processNames.filter((name) => definitionOf(name).scaledBy !== undefined)
  expect(required).toEqual({
    ...Object.fromEntries(consumers.map((name) => [name, data])),
    gateway: ['PROXY_API_KEY', 'SERVICE_API_KEY', 'SPOOL_KEY', 'UPSTREAM_API_KEY'],
    api: ['BODY_ENCRYPTION_KEYS', ...data.slice(0, 2), 'INTERNAL_API_SECRET', ...data.slice(2)],
    scorer: ['BODY_ENCRYPTION_KEYS', ...data, 'OPENAI_API_KEY'],
    notifier: ['BODY_ENCRYPTION_KEYS', ...data],
    redteam: ['BODY_ENCRYPTION_KEYS', ...data.slice(0, 2), 'INTERNAL_API_SECRET'],
    dashboard: ['INTERNAL_API_SECRET'],
    migrate: data,
  })
})

test('every pod has the files of the values, and the dashboard knows its ingress', () => {
  for (const { name, container, annotations, volumes } of workloads) {
    expect({ name, mounts: container.volumeMounts }).toMatchObject({
      mounts: expect.arrayContaining([
        { name: 'authorities', mountPath: '/etc/authorities', readOnly: true },
      ]) as unknown,
    })
    expect(volumes).toContainEqual({ name: 'authorities', configMap: { name: 'authorities' } })
    if (name !== 'migrate') expect(annotations).toEqual({ 'example.com/team': 'models' })
  }
  const holders = workloads.filter(({ container }) =>
    container.env.some(({ name, value }) => name === 'TRUSTED_PROXIES' && value === '10.244.0.0/16'),
  )
  expect(holders.map(({ name }) => name)).toEqual(['dashboard'])
})

test('pods run without rights, write to their own volumes alone, and have an end to their memory', () => {
  for (const { name, pod, container, volumes } of workloads) {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container.image).not.toMatch(/:latest$|^[^:]+$/)
    expect(container.resources.limits.memory).toMatch(/^\d+[GM]i$/)
    expect(container.volumeMounts.map((mount) => mount.name).sort()).toEqual(
      volumes.map((one) => one.name).sort(),
    )
    const isWatched = container.startupProbe && container.livenessProbe && container.readinessProbe
    expect({ name, isWatched: isWatched !== undefined }).toEqual({ name, isWatched: name !== 'migrate' })
  }
})

test.each(services.map((one) => [one.name, one] as const))(
  '%s may finish what it has begun before it is killed',
  async (name, { pod, container }) => {
    const given = container.env.find((variable) => variable.name === 'DRAIN_DEADLINE_MS')?.value
    const drainMs = fieldOf(await schemaOf(name), 'DRAIN_DEADLINE_MS').parse(given) as number
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(drainMs / 1000)
  },
)

test('selectors find the pods of one service, and every pod has its network policy', () => {
  const found = (selector: Labels) =>
    workloads.filter(({ labels }) => Object.entries(selector).every(([key, value]) => labels[key] === value))
  const selectors = ofKind('Deployment', 'StatefulSet', 'Service', 'PodDisruptionBudget').map(
    ({ spec }) => spec.selector.matchLabels ?? spec.selector,
  )
  for (const selector of selectors) expect(found(selector)).toHaveLength(1)
  const held = ofKind('NetworkPolicy').flatMap(({ spec }) => found(spec.podSelector.matchLabels))
  expect(held.map(({ name }) => name).sort()).toEqual(workloads.map(({ name }) => name).sort())
})

test('consumers are scaled by the groups that the table names, to no more than partitions', () => {
  const byName = new Map(Object.values(topics).map((topic) => [`prod.${topic.name}`, topic]))
  for (const { metadata, spec } of ofKind('ScaledObject')) {
    const name = metadata.name.replace('sluice-', '') as ProcessName
    const asked = spec.triggers.map((trigger) => trigger.metadata)
    const groups = new Set(asked.map(({ consumerGroup }) => consumerGroup.replace('prod.', '')))
    expect([...groups]).toEqual(definitionOf(name).scaledBy)
    for (const { topic } of asked)
      expect({ topic, partitions: byName.get(topic)?.partitions }).toEqual({
        topic,
        partitions: spec.maxReplicaCount,
      })
  }
})

test('what holds back or ends streams is off at the ingress of the gateway', () => {
  const gateway = ofKind('Ingress').find(({ metadata }) => metadata.name === 'sluice-gateway')
  expect(gateway?.metadata.annotations).toMatchObject({
    'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
    'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
    'nginx.ingress.kubernetes.io/proxy-body-size': '0',
    'nginx.ingress.kubernetes.io/proxy-read-timeout': '900',
    'nginx.ingress.kubernetes.io/proxy-next-upstream': 'off',
  })
})

test('the migration goes before the release, a spool outlives its gateway', () => {
  const [job] = ofKind('Job')
  expect(job?.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' })
  expect(ofKind('StatefulSet')[0]?.spec).toMatchObject({
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  })
})
