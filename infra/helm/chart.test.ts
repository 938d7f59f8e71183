import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { notifierNodeOptions } from '#infra/node-options.ts'
import { topics } from '#schemas/topics.ts'
import { findHelm, renderChart } from './render-chart.ts'

const root = join(import.meta.dirname, '..', '..')
const rendered = readFileSync(join(import.meta.dirname, 'rendered.yaml'), 'utf8')

type Labels = Record<string, string>
interface Variable {
  name: string
  value?: string
  valueFrom?: { secretKeyRef: { name: string; key: string; optional: boolean } }
}
interface Container {
  args: string[]
  image: string
  env: Variable[]
  ports?: { name: string; containerPort: number }[]
  resources: { requests: object; limits: { memory: string } }
  securityContext: object
  volumeMounts: { name: string; mountPath: string }[]
  startupProbe?: object
  livenessProbe?: object
  readinessProbe?: object
}
interface Pod {
  metadata: { labels: Labels }
  spec: {
    automountServiceAccountToken: boolean
    terminationGracePeriodSeconds?: number
    securityContext: object
    containers: [Container]
    volumes: { name: string; configMap?: { name: string } }[]
  }
}
interface Resource {
  kind: string
  metadata: { name: string; annotations?: Labels }
  spec: {
    template: Pod
    selector: Labels & { matchLabels?: Labels }
    podSelector: { matchLabels: Labels }
    maxReplicaCount: number
    triggers: { metadata: { topic: string; consumerGroup: string } }[]
    secretTargetRef: { name: string }[]
    volumeClaimTemplates?: { metadata: { name: string } }[]
  }
}

const resources = parseAllDocuments(rendered).map((document) => document.toJS() as Resource)
const ofKind = (...kinds: string[]) => resources.filter(({ kind }) => kinds.includes(kind))
const workloads = ofKind('Deployment', 'StatefulSet', 'Job').map(({ metadata, spec }) => {
  const { template, volumeClaimTemplates = [] } = spec
  const volumes = [
    ...template.spec.volumes,
    ...volumeClaimTemplates.map((claim) => ({ name: claim.metadata.name })),
  ]
  const [container] = template.spec.containers
  return {
    name: metadata.name.replace('sluice-', ''),
    labels: template.metadata.labels,
    pod: template.spec,
    container,
    volumes,
  }
})
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

test('rendered.yaml is what Helm makes of the chart', async () => {
  const helm = await findHelm(process.env['PATH'])
  if (helm === undefined)
    process.stderr.write('NOT SHOWN: there is no helm here; scripts/check-chart fetches it\n')
  expect(helm === undefined ? rendered : await renderChart(helm)).toBe(rendered)
})

test('every service runs, the notifier with room for what is in flight', () => {
  // ingest is served by the API's process; alone it is not part of the chart.
  const all = globSync('*/main.ts', { cwd: join(root, 'services') }).map(dirname)
  expect(services.map(({ name }) => name).sort()).toEqual(all.filter((name) => name !== 'ingest').sort())
  for (const { name, container } of services) {
    const options = name === 'notifier' ? [notifierNodeOptions] : []
    expect({ name, args: container.args }).toEqual({ name, args: [...options, `services/${name}/main.ts`] })
  }
})

test.each(services.map(({ name, container }) => [name, container] as const))(
  '%s is given variables that it knows, with values that it takes, and all that it needs',
  async (name, { env, ports = [] }) => {
    const schema = await schemaOf(name)
    expect(env.map((variable) => variable.name).filter((variable) => !(variable in schema.shape))).toEqual([])
    for (const { name: variable, value } of env) {
      if (value === undefined) continue
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
  expect(holders('DATABASE_URL').sort()).toEqual(['api', 'migrate', 'notifier', 'redteam', 'scorer', 'sink'])
  for (const { name, container } of workloads) {
    for (const { name: variable, value, valueFrom } of container.env) {
      if (!/SECRET|KEY|PASSWORD|DATABASE_URL/.test(variable)) continue
      expect({ variable, value }).toEqual({ variable, value: undefined })
      const secret = name === 'notifier' ? 'sluice-notifier' : 'sluice'
      expect(valueFrom?.secretKeyRef).toMatchObject({ name: secret, key: variable })
    }
  }
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

test('consumers are scaled on topics that there are, by groups that read them, to no more than partitions', () => {
  const sources = globSync('{sink,scorer,notifier}/**/*.ts', { cwd: join(root, 'services') })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(root, 'services', file), 'utf8'))
    .join('\n')
  const byName = new Map(Object.values(topics).map((topic) => [`prod.${topic.name}`, topic]))
  for (const { spec } of ofKind('ScaledObject')) {
    for (const { metadata } of spec.triggers) {
      const { topic, consumerGroup } = metadata
      expect({ topic, partitions: byName.get(topic)?.partitions }).toEqual({
        topic,
        partitions: spec.maxReplicaCount,
      })
      const group = consumerGroup.replace(/^prod\./, '')
      // The notifier puts its names together: `notifier-${name}`.
      expect(sources).toMatch(new RegExp(`['}]${group}['\`]|'${group.replace('notifier-', '')}'`))
    }
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
