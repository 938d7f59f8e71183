import { z } from 'zod'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { manifestFormats, topicManifest } from '#infra/topic-manifests.ts'
import { topicFields, topicSettingsOf } from '#infra/topic-settings.ts'
import { kafkaFields, parseConfig } from '#runtime/config.ts'
import { topicsToCreate } from '#schemas/topics.ts'
import { parseOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/topics --format strimzi|terraform [--replicas 3] [--cluster NAME]

Prints the topics for those who make them by GitOps: KafkaTopic objects for Strimzi, or kafka_topic resources
for Terraform. They follow TOPIC_PREFIX, KAFKA_TOPIC_PARTITIONS, KAFKA_TOPIC_RETENTION_MS and
KAFKA_MAX_RECORD_BYTES of the environment. Connects to nothing; scripts/migrate --check-topics-only compares
the cluster with the same table.

  --replicas N    copies of each partition
  --cluster NAME  Strimzi: the Kafka object that the topics belong to (kafka)`

const schema = z.object({ ...topicFields, TOPIC_PREFIX: kafkaFields.TOPIC_PREFIX })
const optionsSchema = z.object({
  format: z.enum(manifestFormats, { error: '--format takes strimzi or terraform' }),
  replicas: z.coerce
    .number({ error: '--replicas takes a whole number' })
    .int({ error: '--replicas takes a whole number' })
    .min(1, { error: '--replicas takes at least 1' }),
  cluster: z.string(),
})

function run(): void {
  const { values } = parseOptions(usage, {
    options: {
      format: { type: 'string' },
      replicas: { type: 'string', default: '3' },
      cluster: { type: 'string', default: 'kafka' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help === true) {
    console.log(usage)
    return
  }
  const options = optionsSchema.safeParse(values)
  if (!options.success) throw new CannotStart(options.error.issues.map(({ message }) => message).join('; '))
  const config = parseConfig(schema, process.env)
  if (!config.ok) throw new CannotStart(`the configuration is wrong\n${config.problems.join('\n')}`)
  const topics = topicsToCreate(config.value.TOPIC_PREFIX, topicSettingsOf(config.value))
  process.stdout.write(topicManifest(options.data.format, topics, options.data))
}

await runCommand(async () => {
  await Promise.resolve()
  run()
})
