import { expect, test } from '@jest/globals'
import { kafkaClients } from '#infra/kafka-acls.ts'
import { parseResources, workloadsOf } from './testing/chart-resources.ts'
import { findHelm, renderChart } from './render-chart.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const helm = findHelm(process.env['PATH']) ?? ''
const withHelm = helm === '' ? test.skip : test

withHelm(
  'limits of records reach every process that writes any, whole; what topics are to be, no matter who makes or examines them',
  async () => {
    const settings = [
      'kafka.maxRecordBytes=8388608',
      'kafka.topicPartitions=12',
      'kafka.topicRetentionMs=259200000',
      'migrate.checkTopicsOnly=true',
    ]
    const all = workloadsOf(parseResources(await renderChart(helm, settings)))
    const having = (name: string, value: string) =>
      all
        .filter(({ container }) => container.env.some((one) => one.name === name && one.value === value))
        .map((one) => one.name)
    expect(having('KAFKA_MAX_RECORD_BYTES', '8388608').sort()).toEqual([...kafkaClients].sort())
    expect(having('KAFKA_TOPIC_PARTITIONS', '12').sort()).toEqual(['api', 'migrate'])
    expect(having('KAFKA_TOPIC_RETENTION_MS', '259200000').sort()).toEqual(['api', 'migrate'])
    expect(all.find(({ name }) => name === 'migrate')?.container.args).toEqual([
      'scripts/migrate.ts',
      '--check-topics-only',
    ])
  },
)

withHelm(
  'tokens are asked for with the client of the values and the secret of the Secret; KEDA knows both',
  async () => {
    const rendered = parseResources(
      await renderChart(helm, [
        'kafka.sasl=oauthbearer',
        'kafka.oauth.tokenUrl=https://login.example.com/token',
        'kafka.oauth.clientId=sluice',
        'kafka.oauth.extensions=logicalCluster=lkc-1\\,identityPoolId=pool-1',
        'kafka.compression=gzip',
      ]),
    )
    const sink = workloadsOf(rendered).find(({ name }) => name === 'sink')?.container.env ?? []
    const values = Object.fromEntries(sink.map(({ name, value }) => [name, value]))
    expect(values).toMatchObject({
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_OAUTH_TOKEN_URL: 'https://login.example.com/token',
      KAFKA_OAUTH_CLIENT_ID: 'sluice',
      KAFKA_OAUTH_EXTENSIONS: 'logicalCluster=lkc-1,identityPoolId=pool-1',
      KAFKA_COMPRESSION: 'gzip',
    })
    expect(values).not.toHaveProperty('KAFKA_SASL_USERNAME')
    expect(sink.find(({ name }) => name === 'KAFKA_OAUTH_CLIENT_SECRET')?.valueFrom?.secretKeyRef).toEqual({
      name: 'sluice',
      key: 'KAFKA_OAUTH_CLIENT_SECRET',
      optional: false,
    })
    const scaling = rendered.find(
      ({ kind, metadata }) => kind === 'TriggerAuthentication' && metadata.name === 'sluice-sink-kafka',
    ) as unknown as { spec: Record<'env' | 'secretTargetRef', { parameter: string }[]> }
    expect(scaling.spec.env.map(({ parameter }) => parameter)).toEqual([
      'username',
      'oauthTokenEndpointUri',
      'oauthExtensions',
    ])
    expect(scaling.spec.secretTargetRef.map(({ parameter }) => parameter)).toContain('password')
    const triggers = rendered
      .filter(({ kind }) => kind === 'ScaledObject')
      .flatMap(({ spec }) => spec.triggers.map(({ metadata }) => metadata as Record<string, string>))
    expect(new Set(triggers.map(({ sasl }) => sasl))).toEqual(new Set(['oauthbearer']))
  },
)
