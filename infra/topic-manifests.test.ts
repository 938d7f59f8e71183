import { expect, test } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { topicsToCreate } from '#schemas/topics.ts'
import { topicManifest } from './topic-manifests.ts'

const wanted = topicsToCreate('prod.')
const options = { replicas: 3, cluster: 'events' }
const inSync = { 'min.insync.replicas': '2' }

interface KafkaTopic {
  metadata: { name: string; labels: object }
  spec: { topicName: string; partitions: number; replicas: number; config: Record<string, unknown> }
}

test('Strimzi gets every topic as scripts/migrate would make it, under names that Kubernetes takes', () => {
  const topics = parseAllDocuments(topicManifest('strimzi', wanted, options)).map(
    (document) => document.toJS() as KafkaTopic,
  )
  expect(
    topics.map(({ spec }) => ({
      name: spec.topicName,
      partitions: spec.partitions,
      replicas: spec.replicas,
      config: Object.fromEntries(Object.entries(spec.config).map(([key, value]) => [key, String(value)])),
    })),
  ).toEqual(
    wanted.map(({ name, partitions, config }) => ({
      name,
      partitions,
      replicas: 3,
      config: { ...config, ...inSync },
    })),
  )
  const names = topics.map(({ metadata }) => metadata.name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/)
  expect(topics[0]?.metadata.labels).toEqual({ 'strimzi.io/cluster': 'events' })
})

test('Terraform gets the same', () => {
  const text = topicManifest('terraform', wanted, options)
  const blocks = [...text.matchAll(/^resource "kafka_topic" "(\w[\w-]*)" \{\n([^]+?)^\}\n/gm)]
  expect(new Set(blocks.map(([, label]) => label)).size).toBe(wanted.length)
  const read = blocks.map(([, , body = '']) => ({
    name: /^ {2}name += "(.+)"$/m.exec(body)?.[1],
    partitions: Number(/^ {2}partitions += (\d+)$/m.exec(body)?.[1]),
    replicas: Number(/^ {2}replication_factor = (\d+)$/m.exec(body)?.[1]),
    config: Object.fromEntries(
      [...body.matchAll(/^ {4}"(.+)" = "(.+)"$/gm)].map(([, key = '', value = '']) => [key, value] as const),
    ),
  }))
  expect(read).toEqual(
    wanted.map(({ name, partitions, config }) => ({
      name,
      partitions,
      replicas: 3,
      config: { ...config, ...inSync },
    })),
  )
})

test('a single copy may be the only one in sync', () => {
  expect(topicManifest('terraform', wanted, { ...options, replicas: 1 })).toContain(
    '"min.insync.replicas" = "1"',
  )
})
