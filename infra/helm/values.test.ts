import { expect, test } from '@jest/globals'
import { kafkaClients } from '#infra/kafka-acls.ts'
import { parseResources, workloadsOf } from './testing/chart-resources.ts'
import { findHelm, renderChart } from './render-chart.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const helm = findHelm(process.env['PATH']) ?? ''
const withHelm = helm === '' ? test.skip : test

withHelm('the address of a registry that asks for a password is in the Secret, and in no value', async () => {
  const all = workloadsOf(parseResources(await renderChart(helm, ['registryUrl='])))
  const asked = all.flatMap(({ name, container }) =>
    container.env.flatMap(({ name: variable, valueFrom }) =>
      variable === 'SCHEMA_REGISTRY_URL' ? [[name, valueFrom?.secretKeyRef.optional]] : [],
    ),
  )
  // The gateway uses Kafka only if its values say so.
  const speakers = kafkaClients.filter((name) => name !== 'gateway').sort()
  expect(asked.sort()).toEqual(speakers.map((name) => [name, false]))
  const readable = renderChart(helm, ['registryUrl=https://user:password@registry'])
  await expect(readable).rejects.toThrow(/registryUrl/)
})

withHelm('where the cluster gives users out, no pod asks for one', async () => {
  const contexts = async (settings: string[]) =>
    new Set((await renderChart(helm, settings)).match(/runAs\w+: .*|fsGroup: .*/g))
  const always = 'runAsNonRoot: true'
  const own = ['runAsUser: 1000', 'runAsGroup: 1000', 'fsGroup: 1000']
  expect(await contexts([])).toEqual(new Set([always, ...own]))
  expect(await contexts(['userId=null'])).toEqual(new Set([always]))
})

withHelm('no pod is killed before its time to finish is over', async () => {
  const tooSoon = renderChart(helm, ['gateway.terminationGracePeriodSeconds=300'])
  await expect(tooSoon).rejects.toThrow(/gateway.terminationGracePeriodSeconds: has to be longer/)
})
