import kafkajs, { type AclEntry } from 'kafkajs'
import { z } from 'zod'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { grantsOf, kafkaClients, type KafkaClient } from '#infra/kafka-acls.ts'
import { kafkaFields, parseConfig } from '#runtime/config.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { parseOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/kafka-acls [--apply] [--user-prefix sluice-] [--topic-prefix PREFIX]

The rights of each process in Kafka, by its own user: <user-prefix>${kafkaClients.join(', ')}.
Without --apply, prints the commands for Kafka's kafka-acls.sh and connects to nothing. With it, adds the
rights as the environment's KAFKA_… user, who must be allowed to alter the cluster's ACLs. Removes none.
--topic-prefix is TOPIC_PREFIX of the services; unset: the environment's.
`

const schema = z.object({ TOPIC_PREFIX: kafkaFields.TOPIC_PREFIX })
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs

function readArguments() {
  return parseOptions(usage, {
    options: {
      apply: { type: 'boolean', default: false },
      'user-prefix': { type: 'string', default: 'sluice-' },
      'topic-prefix': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  }).values
}

function parsed<S extends z.ZodObject>(wanted: S, prefix: string | undefined): z.output<S> {
  const given = prefix === undefined ? process.env : { ...process.env, TOPIC_PREFIX: prefix }
  const result = parseConfig(wanted, given)
  if (!result.ok) throw new CannotStart(`the configuration is wrong\n${result.problems.join('\n')}`)
  return result.value
}

function commandsOf(client: KafkaClient, principal: string, prefix: string): string[] {
  return grantsOf(client, prefix).map(({ resource, name, pattern, operations }) => {
    const options = operations.map((one) => `--operation ${spelled(one)}`).join(' ')
    const of = `--${resource.toLowerCase()} ${name} --resource-pattern-type ${pattern.toLowerCase()}`
    return `kafka-acls.sh --bootstrap-server "$KAFKA_BROKERS" --add --allow-principal ${principal} ${options} ${of}`
  })
}

/** Spelling of kafka-acls.sh: DESCRIBE_CONFIGS is DescribeConfigs. */
function spelled(operation: string): string {
  const words = operation.split('_').map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
  return words.join('')
}

function entriesOf(client: KafkaClient, principal: string, prefix: string): AclEntry[] {
  return grantsOf(client, prefix).flatMap(({ resource, name, pattern, operations }) =>
    operations.map((operation) => ({
      principal,
      host: '*',
      operation: AclOperationTypes[operation],
      permissionType: AclPermissionTypes.ALLOW,
      resourceName: name,
      resourcePatternType: ResourcePatternTypes[pattern],
      resourceType: AclResourceTypes[resource],
    })),
  )
}

async function run(): Promise<void> {
  const values = readArguments()
  if (values.help === true) {
    console.log(usage)
    return
  }
  const prefix = parsed(schema, values['topic-prefix']).TOPIC_PREFIX
  const principalOf = (client: KafkaClient) => `User:${values['user-prefix']}${client}`
  if (!values.apply) {
    for (const client of kafkaClients)
      console.log([`# ${client}`, ...commandsOf(client, principalOf(client), prefix), ''].join('\n'))
    return
  }
  const config = parsed(z.object(kafkaFields), values['topic-prefix'])
  const kafka = createKafka(config, { clientId: 'sluice-kafka-acls', log: createLog('kafka-acls', 'warn') })
  const acl = kafkaClients.flatMap((client) => entriesOf(client, principalOf(client), prefix))
  await withAdmin(kafka, (admin) => admin.createAcls({ acl }))
  console.log(`${acl.length} rights of ${kafkaClients.length} users are there`)
}

await runCommand(run)
