import { expect, test } from '@jest/globals'
import { renderings } from './testing/all-settings.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const { helm, podOf } = renderings(process.env['PATH'])
const withHelm = helm === '' ? test.skip : test

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
