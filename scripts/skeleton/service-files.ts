import { marker, type Change } from './changes.ts'

interface ServiceFacts {
  name: string
  /** The name as a part of identifiers. */
  title: string
  port: number
  /** The topic: its key in schemas/topics.ts, its name, its Avro record. */
  reads: string
  topic: string
  schema: string
}

/** The files of services/NAME: one consumer group, one handler. */
export function serviceFiles(facts: ServiceFacts): Change[] {
  const { name } = facts
  const texts = {
    'main.ts': mainOf(facts),
    'config.ts': configOf(facts),
    'service.ts': serviceOf(facts),
    'handler.ts': handlerOf(facts),
    'handler.test.ts': testOf(facts),
    'README.md': readmeOf(facts),
  }
  return Object.entries(texts).map(([file, text]) => ({ file: `services/${name}/${file}`, text }))
}

const mainOf = ({
  name,
  title,
}: ServiceFacts) => `import { requireMigration } from '#runtime/require-migration.ts'
import { runProcess } from '#runtime/run-process.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { ${name}Config } from './config.ts'
import { create${title} } from './service.ts'

process.exit(
  await runProcess({
    name: '${name}',
    schema: ${name}Config,
    environment: process.env,
    create: create${title},
    prepare: requireMigration(newestMigration),
  }),
)
`

const configOf = ({ name, title, port }: ServiceFacts) => `import { z } from 'zod'
import {
  groupFields,
  kafkaFields,
  operationsPort,
  postgresFields,
  processFields,
  registryFields,
  wholeNumber,
} from '#runtime/config.ts'

export const ${name}Config = z.object({
  ...processFields,
  OPS_PORT: operationsPort(${port}),
  ...kafkaFields,
  ...groupFields,
  ...registryFields,
  ...postgresFields,
  ${name.toUpperCase()}_CONCURRENCY: wholeNumber(32, { max: 1_000 }).describe(
    'Records of one process that are handled at the same time.',
  ),
})

export type ${title}Config = z.output<typeof ${name}Config>
`

const serviceOf = ({
  name,
  title,
  reads,
}: ServiceFacts) => `import { createParallelConsumer } from '#runtime/kafka/parallel-consumer.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { runTogether } from '#runtime/run-together.ts'
import { createServiceContext } from '#runtime/service-context.ts'
import type { Service } from '#runtime/service.ts'
import { services } from '#schemas/services.ts'
import { avroSchemas, topics, type TopicValues } from '#schemas/topics.ts'
import type { ${title}Config } from './config.ts'
import { create${title}Handler } from './handler.ts'

/** One consumer group. Wiring only. */
export function create${title}(config: ${title}Config, dependencies: ProcessDependencies): Service {
  const { groups, writes } = services.${name}.kafka
  const context = createServiceContext<${title}Config, TopicValues>(config, dependencies, {
    name: 'sluice-${name}',
    avroSchemas,
    writes,
  })
  const consumer = createParallelConsumer({
    ...context,
    groupId: \`\${config.TOPIC_PREFIX}${name}\`,
    topics: groups.${name}.map(context.nameOf),
    decoder: context.codecOf(topics.${reads}),
    handler: create${title}Handler(context),
    concurrency: config.${name.toUpperCase()}_CONCURRENCY,
  })
  return runTogether([...context.connections, consumer], context.log)
}
`

const handlerOf = ({
  title,
  schema,
}: ServiceFacts) => `import type { RecordHandler } from '#runtime/kafka/records.ts'
import type { Log } from '#runtime/log.ts'
import { ok } from '#runtime/outcome.ts'
import type { TopicValues } from '#schemas/topics.ts'

/** ${marker}: what becomes of one record. The offset moves when this resolves. */
export function create${title}Handler({ log }: { log: Log }): RecordHandler<TopicValues['${schema}']> {
  return ({ topic, partition, offset }) => {
    log.debug({ topic, partition, offset: String(offset) }, 'record seen')
    return Promise.resolve(ok())
  }
}
`

const testOf = ({ title, schema }: ServiceFacts) => `import { expect, test } from '@jest/globals'
import type { ConsumedRecord } from '#runtime/kafka/records.ts'
import { createLog } from '#runtime/log.ts'
import type { TopicValues } from '#schemas/topics.ts'
import { create${title}Handler } from './handler.ts'

// ${marker}: one line for each outcome.
test('a record is handled', async () => {
  const handle = create${title}Handler({ log: createLog('test', 'silent') })
  const record: ConsumedRecord<TopicValues['${schema}']> = {
    ...{ topic: 'topic', partition: 0, offset: 0n, key: null, headers: {}, timestampMs: 0 },
    value: {} as TopicValues['${schema}'],
  }
  expect(await handle(record, new AbortController().signal)).toMatchObject({ kind: 'ok' })
})
`

const readmeOf = ({ name, topic }: ServiceFacts) => `# ${name}

${marker}: what it does, in one sentence.

**Reads** \`${topic}\` (group \`${name}\`).
**Writes** ${marker}.

## Guarantees

- At least once, in no order: ${marker}.

## On failure

| what | then |
|---|---|
| Kafka, the registry or Postgres away | consumption pauses and is tried again; /readyz answers 503 |
| a record that cannot be decoded or handled | \`${topic}.dlq\`, with its bytes and the error |
`
