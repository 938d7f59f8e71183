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
