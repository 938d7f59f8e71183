import { expect, test } from '@jest/globals'
import { messageOf } from '#runtime/errors.ts'
import { parseResources } from './testing/chart-resources.ts'
import { findHelm, renderChart } from './render-chart.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const helm = findHelm(process.env['PATH']) ?? ''
const withHelm = helm === '' ? test.skip : test

interface Scaling {
  kind: string
  metadata: { name: string }
  spec: {
    secretTargetRef?: { parameter: string; name: string; key: string }[]
    env?: { parameter: string; name: string; containerName: string }[]
    triggers: { authenticationRef: object }[]
  }
}

/** KEDA's resources with these settings. */
async function scalingWith(settings: string[]): Promise<Scaling[]> {
  return parseResources(await renderChart(helm, settings)) as unknown as Scaling[]
}

const authenticationOf = (resources: Scaling[], process: string) =>
  resources.find(
    ({ kind, metadata }) => kind === 'TriggerAuthentication' && metadata.name === `sluice-${process}-kafka`,
  )

withHelm(
  'KEDA has what the Secret holds from the Secret, and what the values hold from the container',
  async () => {
    const resources = await scalingWith(['sink.env.KAFKA_SASL_USERNAME=sink', 'env.KAFKA_SSL_CA=PEM'])
    const { secretTargetRef, env } = authenticationOf(resources, 'sink')?.spec ?? {}
    expect(secretTargetRef?.map(({ parameter, key }) => [parameter, key])).toEqual([
      ['password', 'KAFKA_SASL_PASSWORD'],
      ['cert', 'KAFKA_SSL_CERT'],
      ['key', 'KAFKA_SSL_KEY'],
    ])
    expect(env).toEqual([
      { parameter: 'username', name: 'KAFKA_SASL_USERNAME', containerName: 'sink' },
      { parameter: 'ca', name: 'KAFKA_SSL_CA', containerName: 'sink' },
    ])
  },
)

withHelm.each([
  'KAFKA_SASL_USERNAME',
  'KAFKA_SASL_PASSWORD',
  'KAFKA_SSL_CA',
  'KAFKA_SSL_CERT',
  'KAFKA_SSL_KEY',
])(
  'a file in place of %s is refused, because KEDA reads none, unless there is an authentication of its own',
  async (variable) => {
    const file = `scorer.env.${variable}_FILE=/etc/kafka/it`
    const refused = await scalingWith([file]).catch(messageOf)
    expect(refused).toContain(
      `scorer.autoscaling.authenticationRef: KEDA cannot read the file that ${variable}_FILE names`,
    )
    const off = await scalingWith([file, 'scorer.autoscaling.enabled=false'])
    const own = await scalingWith([
      file,
      'scorer.autoscaling.authenticationRef.name=vault',
      'scorer.autoscaling.authenticationRef.kind=ClusterTriggerAuthentication',
    ])
    expect(authenticationOf(off, 'scorer')).toBeUndefined()
    expect(authenticationOf(own, 'scorer')).toBeUndefined()
    const scaled = own.find(
      ({ kind, metadata }) => kind === 'ScaledObject' && metadata.name === 'sluice-scorer',
    )
    const reference = { name: 'vault', kind: 'ClusterTriggerAuthentication' }
    expect(scaled?.spec.triggers.map(({ authenticationRef }) => authenticationRef)).toEqual(
      Array(4).fill(reference),
    )
  },
)

withHelm('a Kafka that asks for nothing needs none of it', async () => {
  const resources = await scalingWith([
    'kafka.sasl=none',
    'kafka.tls=false',
    'env.KAFKA_SSL_CA_FILE=/etc/kafka/ca',
  ])
  expect(resources.filter(({ kind }) => kind === 'TriggerAuthentication')).toEqual([])
})
