import { stringify } from 'yaml'
import type { TopicToCreate } from '#schemas/topics.ts'
import { inSyncOf } from './topic-copies.ts'

export const manifestFormats = ['strimzi', 'terraform'] as const
export type ManifestFormat = (typeof manifestFormats)[number]

interface ManifestOptions {
  replicas: number
  /** Strimzi's: the Kafka resource that the topics belong to. */
  cluster: string
}

/** The topics as objects that someone else's tool makes them from. */
export function topicManifest(
  format: ManifestFormat,
  topics: readonly TopicToCreate[],
  options: ManifestOptions,
): string {
  const complete = topics.map((topic) => ({
    ...topic,
    config: { ...topic.config, 'min.insync.replicas': String(inSyncOf(options.replicas)) },
  }))
  return format === 'strimzi' ? strimzi(complete, options) : terraform(complete, options)
}

function strimzi(topics: readonly TopicToCreate[], { replicas, cluster }: ManifestOptions): string {
  const documents = topics.map(({ name, partitions, config }) => ({
    apiVersion: 'kafka.strimzi.io/v1beta2',
    kind: 'KafkaTopic',
    metadata: { name: objectName(name), labels: { 'strimzi.io/cluster': cluster } },
    spec: { topicName: name, partitions, replicas, config: typed(config) },
  }))
  return documents.map((document) => `---\n${stringify(document)}`).join('')
}

/** Kubernetes allows neither `_` nor capitals. */
function objectName(topic: string): string {
  return topic.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '-')
}

function typed(config: Readonly<Record<string, string>>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]),
  )
}

function terraform(topics: readonly TopicToCreate[], { replicas }: ManifestOptions): string {
  const blocks = topics.map(({ name, partitions, config }) => {
    const settings = Object.entries(config).map(([key, value]) => `    "${key}" = "${value}"`)
    return [
      `resource "kafka_topic" "${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}" {`,
      `  name               = "${name}"`,
      `  partitions         = ${partitions}`,
      `  replication_factor = ${replicas}`,
      `  config = {`,
      ...settings,
      `  }`,
      `}`,
    ].join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}
