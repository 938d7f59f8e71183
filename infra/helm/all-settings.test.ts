import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse, parseAllDocuments } from 'yaml'
import { messageOf } from '#runtime/errors.ts'
import { dashboardFiles } from '#infra/grafana/all-dashboards.ts'
import { findHelm, renderChart } from './render-chart.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const helm = findHelm(process.env['PATH']) ?? ''
const withHelm = helm === '' ? test.skip : test

interface Rendered {
  kind: string
  metadata: { name: string; labels: object; annotations?: object }
  spec: Record<string, unknown>
  data: Record<string, string>
}

const allSettings = [join('testing', 'all-settings.yaml')]
let once: Promise<Rendered[]> | undefined

async function render(settings: string[], files = allSettings): Promise<Rendered[]> {
  const text = await renderChart(helm, settings, files)
  return parseAllDocuments(text).flatMap((document) => {
    const value = document.toJS() as Rendered | null
    return value === null ? [] : [value]
  })
}

/** One object of the rendering of testing/all-settings.yaml, or with other settings besides. */
async function find(kind: string, name: string, settings: string[] = []): Promise<Rendered | undefined> {
  const all = settings.length > 0 ? await render(settings) : await (once ??= render([]))
  return all.find((one) => one.kind === kind && one.metadata.name === name)
}

/** The template of a workload's pod. */
async function podOf(name: string, kind = 'Deployment') {
  const { template } = (await find(kind, name))?.spec as { template: { metadata: object; spec: object } }
  return template
}

const shared = {
  serviceAccountName: 'sluice',
  priorityClassName: 'business',
  nodeSelector: { pool: 'shared' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: expect.anything() as unknown },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': 'api' }) },
    },
  ],
  initContainers: [{ name: 'wait', image: 'registry.example.com/wait:1' }],
}
const api = {
  image: `registry.example.com/sluice@sha256:${'0123456789abcdef'.repeat(4)}`,
  envFrom: [{ secretRef: { name: 'shared-env' } }],
  startupProbe: { httpGet: { path: '/healthz', port: 'ops' }, periodSeconds: 5, failureThreshold: 60 },
  volumeMounts: expect.arrayContaining([
    { name: 'shared', mountPath: '/etc/shared', readOnly: true },
    { name: 'sluice-authorities', mountPath: '/etc/sluice-authorities', readOnly: true },
  ]),
  env: expect.arrayContaining([
    { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/sluice-authorities/ca.pem' },
    { name: 'DATABASE_HOST', value: 'db.example.com' },
    { name: 'DATABASE_PORT', value: '6432' },
    {
      name: 'DATABASE_PASSWORD',
      valueFrom: { secretKeyRef: { name: 'db-app', key: 'password', optional: false } },
    },
  ]),
}
const authorities = {
  name: 'sluice-authorities',
  configMap: { name: 'company-ca', items: [{ key: 'bundle.pem', path: 'ca.pem' }] },
}

withHelm('a setting of all processes reaches a pod', async () => {
  const pod = await podOf('sluice-api')
  expect(pod.metadata).toMatchObject({
    labels: { 'example.com/cost': 'shared' },
    annotations: { 'example.com/team': 'models' },
  })
  expect(pod.spec).toMatchObject({
    ...shared,
    containers: [api, { name: 'shipper' }],
    volumes: expect.arrayContaining([authorities, { name: 'shared', configMap: { name: 'shared' } }]),
  })
  const { containers } = pod.spec as unknown as { containers: { env: { name: string }[] }[] }
  expect(containers[0]?.env.filter(({ name }) => name === 'DATABASE_URL')).toEqual([])
})

withHelm('the API alone has the file of what exists from the start', async () => {
  const api = (await podOf('sluice-api')).spec as { volumes: object[]; containers: { env: object[] }[] }
  expect(api.volumes).toContainEqual({
    name: 'init',
    secret: { secretName: 'sluice-init', items: [{ key: 'init.yaml', path: 'init.yaml' }] },
  })
  const variable = { name: 'SLUICE_INIT_FILE', value: '/etc/sluice-init/init.yaml' }
  expect(api.containers[0]?.env).toContainEqual(variable)
  const sink = (await podOf('sluice-sink')).spec as { volumes: { name: string }[] }
  expect(sink.volumes.map(({ name }) => name)).not.toContain('init')
})

withHelm("a process's own settings are merged with, joined to or in place of those of all", async () => {
  const pod = await podOf('sluice-sink')
  expect(pod.metadata).toMatchObject({
    labels: { 'example.com/cost': 'shared', 'example.com/tier': 'storage' },
    annotations: { 'example.com/team': 'data' },
  })
  expect(pod.spec).toMatchObject({
    serviceAccountName: 'sluice-sink',
    priorityClassName: 'storage',
    nodeSelector: { pool: 'shared', disk: 'fast' },
    initContainers: [{ name: 'wait' }, { name: 'own-wait' }],
    containers: [
      {
        envFrom: [{ secretRef: { name: 'shared-env' } }, { configMapRef: { name: 'sink-env' } }],
        startupProbe: { periodSeconds: 7, failureThreshold: 60 },
        volumeMounts: expect.arrayContaining([
          { name: 'shared', mountPath: '/etc/shared', readOnly: true },
          { name: 'own', mountPath: '/var/own' },
        ]),
        env: expect.arrayContaining([
          {
            name: 'DATABASE_PASSWORD',
            valueFrom: { secretKeyRef: { name: 'db-sink', key: 'secret', optional: false } },
          },
        ]),
      },
      { name: 'shipper' },
      { name: 'own-shipper' },
    ],
    volumes: expect.arrayContaining([
      { name: 'shared', configMap: { name: 'shared' } },
      { name: 'own', emptyDir: {} },
    ]),
  })
  // Empty lists and maps of its own take those of all away.
  for (const key of ['tolerations', 'affinity', 'topologySpreadConstraints'])
    expect(pod.spec).not.toHaveProperty(key)
})

withHelm('the migration has what pods have, but for what would keep a job from ending', async () => {
  const pod = await podOf('sluice-migrate', 'Job')
  const { topologySpreadConstraints: _, ...placed } = shared
  expect(pod.metadata).toMatchObject({
    labels: { 'example.com/cost': 'shared' },
    annotations: { 'example.com/mesh': 'false' },
  })
  expect(pod.spec).toMatchObject({ ...placed, serviceAccountName: 'sluice-migrate' })
  const { containers } = pod.spec as { containers: object[] }
  expect(containers).toEqual([expect.objectContaining({ image: api.image, envFrom: api.envFrom })])
  expect(pod.metadata).not.toHaveProperty(['annotations', 'example.com/team'])
})

withHelm.each([
  ['ServiceAccount', 'sluice', { metadata: { annotations: { 'example.com/role': 'services' } } }],
  ['ServiceAccount', 'sluice-sink', { metadata: { annotations: { 'example.com/role': 'sink' } } }],
  [
    'ServiceAccount',
    'sluice-migrate',
    {
      metadata: { annotations: { 'example.com/role': 'migrate', 'helm.sh/hook': 'pre-install,pre-upgrade' } },
    },
  ],
  [
    'Service',
    'sluice-gateway',
    {
      metadata: { annotations: { 'example.com/internal': 'true' } },
      spec: {
        type: 'LoadBalancer',
        loadBalancerSourceRanges: ['10.0.0.0/8'],
        externalTrafficPolicy: 'Local',
      },
    },
  ],
  [
    'HTTPRoute',
    'sluice-gateway',
    {
      spec: {
        parentRefs: [{ name: 'public', namespace: 'gateways', sectionName: 'https' }],
        hostnames: ['llm.example.com'],
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: '/' } }],
            backendRefs: [{ name: 'sluice-gateway', port: 8080 }],
            timeouts: { request: '0s', backendRequest: '0s' },
          },
        ],
      },
    },
  ],
  [
    'HTTPRoute',
    'sluice-dashboard',
    { spec: { rules: [{ backendRefs: [{ port: 3000 }], timeouts: { request: '60s' } }] } },
  ],
  [
    'HorizontalPodAutoscaler',
    'sluice-gateway',
    {
      spec: {
        scaleTargetRef: { kind: 'StatefulSet', name: 'sluice-gateway' },
        minReplicas: 2,
        behavior: { scaleDown: { stabilizationWindowSeconds: 1800 } },
      },
    },
  ],
  [
    'HorizontalPodAutoscaler',
    'sluice-api',
    {
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'sluice-api' },
        minReplicas: 3,
        maxReplicas: 9,
        metrics: [
          { resource: { name: 'cpu', target: { averageUtilization: 70 } } },
          { resource: { name: 'memory', target: { averageUtilization: 80 } } },
        ],
      },
    },
  ],
  ['PodDisruptionBudget', 'sluice-dashboard', { spec: { maxUnavailable: 1 } }],
  [
    'PersistentVolumeClaim',
    'sluice-backup',
    { metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } } },
  ],
  ['NetworkPolicy', 'sluice-backup', { spec: { policyTypes: ['Ingress', 'Egress'] } }],
  [
    'PodMonitor',
    'sluice',
    {
      spec: {
        podMetricsEndpoints: [
          {
            relabelings: expect.arrayContaining([
              { targetLabel: 'cluster', replacement: 'eu-1' },
              { targetLabel: 'release', replacement: 'sluice' },
            ]) as unknown,
          },
        ],
      },
    },
  ],
])('%s %s', async (kind, name, expected) => {
  expect(await find(kind, name)).toMatchObject(expected)
})

withHelm('nothing sets the replicas of what is autoscaled', async () => {
  for (const [kind, name] of [
    ['StatefulSet', 'gateway'],
    ['Deployment', 'api'],
    ['Deployment', 'dashboard'],
  ] as const)
    expect((await find(kind, `sluice-${name}`))?.spec).not.toHaveProperty('replicas')
})

withHelm('an ingress without a class leaves it to the cluster', async () => {
  expect((await find('Ingress', 'sluice-api'))?.spec).not.toHaveProperty('ingressClassName')
})

withHelm('runbooks are where the values say, each of its alert', async () => {
  interface Rules {
    groups: { rules: { alert: string; annotations: { runbook_url: string } }[] }[]
  }
  const made = (await find('PrometheusRule', 'sluice'))?.spec as unknown as Rules
  const rules = made.groups.flatMap((group) => group.rules)
  expect(rules.length).toBeGreaterThan(30)
  for (const { alert, annotations } of rules)
    expect(annotations.runbook_url).toBe(`https://wiki.example.com/runbooks/${alert}.md`)
})

withHelm('the dashboards are ConfigMaps, whole, under the label that Grafana looks for', async () => {
  for (const { name, text } of dashboardFiles()) {
    const found = await find('ConfigMap', `sluice-dashboard-${name.replace('.json', '')}`)
    expect(found?.metadata).toMatchObject({
      labels: { grafana_dashboard: '1' },
      annotations: { grafana_folder: 'Sluice' },
    })
    expect(JSON.parse(found?.data[`sluice-${name}`] ?? 'null')).toEqual(JSON.parse(text))
  }
})

withHelm('backups have the login alone, the restore test nothing but the backups, read-only', async () => {
  interface Job {
    spec: {
      jobTemplate: { spec: { template: { spec: { securityContext: object; containers: Container[] } } } }
    }
  }
  interface Container {
    command: string[]
    env: { name: string }[]
    volumeMounts: { name: string; readOnly?: boolean }[]
  }
  const podOfJob = async (name: string) =>
    ((await find('CronJob', name)) as unknown as Job).spec.jobTemplate.spec.template.spec
  const backup = await podOfJob('sluice-backup')
  const restore = await podOfJob('sluice-restore-test')
  expect(backup.securityContext).toMatchObject({ runAsUser: 999, runAsNonRoot: true })
  const namesOf = ({ containers }: { containers: Container[] }) =>
    containers[0]?.env.map(({ name }) => name).sort()
  expect(namesOf(backup)).toEqual([
    'BACKUP_DIR',
    'BACKUP_KEEP',
    'DATABASE_HOST',
    'DATABASE_NAME',
    'DATABASE_PASSWORD',
    'DATABASE_PORT',
    'DATABASE_SSL_CA',
    'DATABASE_USER',
  ])
  expect(namesOf(restore)).toEqual(['BACKUP_DIR', 'BACKUP_MAX_AGE_HOURS', 'BACKUP_ROLES', 'SCRATCH_DIR'])
  expect(restore.containers[0]?.volumeMounts).toContainEqual({
    name: 'backup',
    mountPath: '/backup',
    readOnly: true,
  })
  const scripts = (await find('ConfigMap', 'sluice-backup'))?.data ?? {}
  for (const { containers } of [backup, restore])
    expect(Object.keys(scripts)).toContain(containers[0]?.command[1]?.replace('/opt/backup/', ''))
})

withHelm.each([
  ['image.digest=sha256:short', /digest/],
  [
    'podLabels.app\\.kubernetes\\.io/component=x',
    /podLabels: app.kubernetes.io\/component is the chart's own/,
  ],
  ['sink.affinty.a=b', /affinty/],
  ['migrate.sidecars[0].name=a', /sidecars/],
  ['proxy.url=http://user:password@proxy:3128', /url/],
  ['secrets.from.DATABASE_URL.name=a', /key/],
  ['httpRoute.parentRefs=null', /httpRoute.parentRefs: which Gateways/],
  ['backup.image=', /backup.image: which image/],
])('%s is refused', async (setting, message) => {
  await expect(render([setting]).catch(messageOf)).resolves.toMatch(message)
})

withHelm('a proxy is given to those who call outside, and to nobody else', async () => {
  const settings = ['proxy.url=http://proxy:3128', 'proxy.noProxy={.svc,10.0.0.0/8}']
  const text = await renderChart(helm, settings, allSettings)
  const holders = text.split('\n---').flatMap((one) => {
    if (!one.includes('UPSTREAM_PROXY_URL')) return []
    expect(one).toContain('value: ".svc,10.0.0.0/8"')
    return [(parse(one) as Rendered).metadata.name]
  })
  expect(holders.sort()).toEqual(['gateway', 'notifier', 'redteam', 'scorer'].map((name) => `sluice-${name}`))
})

withHelm('none of it is made unless the values ask for it', async () => {
  const made = new Set((await render([], ['example-values.yaml'])).map(({ kind }) => kind))
  for (const kind of [
    'ServiceAccount',
    'HorizontalPodAutoscaler',
    'HTTPRoute',
    'CronJob',
    'PersistentVolumeClaim',
  ])
    expect(made).not.toContain(kind)
})

test('every setting of a process is in the schema of all of them', () => {
  const schema = JSON.parse(readFileSync(join(import.meta.dirname, 'values.schema.json'), 'utf8')) as {
    definitions: Record<string, { properties: object }>
    properties: Record<string, { properties?: object; $ref?: string }>
  }
  const propertiesOf = (name: string) => {
    const { $ref, properties } = schema.properties[name] ?? {}
    return Object.keys(properties ?? schema.definitions[$ref?.split('/').at(-1) ?? '']?.properties ?? {})
  }
  const common = propertiesOf('redteam')
  expect(common).toContain('initContainers')
  for (const name of ['gateway', 'api', 'sink', 'scorer', 'notifier', 'dashboard'])
    expect({ name, missing: common.filter((one) => !propertiesOf(name).includes(one)) }).toEqual({
      name,
      missing: [],
    })
})
