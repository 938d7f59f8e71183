import { expect, test } from '@jest/globals'
import { dashboardFiles } from '#infra/grafana/all-dashboards.ts'
import { renderings } from './testing/all-settings.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const { helm, find } = renderings(process.env['PATH'])
const withHelm = helm === '' ? test.skip : test

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
            ]),
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
