import { test } from '@jest/globals'
import { definitionOf, services, type ServiceName } from '#schemas/services.ts'
import { expectPage, tableOf } from '../support/documented-page.ts'

test('docs/services.md is made from schemas/services.ts', () => {
  const names = Object.keys(services) as ServiceName[]
  const places = names.map((name) => {
    const { purpose, servedBy, port, operationsPort, database, callsApi, callsOutside } = definitionOf(name)
    const runs = servedBy === undefined ? purpose : `${purpose}; its routes are the ${servedBy}'s`
    const called = [callsApi === true && 'the API', callsOutside === true && 'outside'].filter(Boolean)
    return [
      `[${name}](../services/${name}/README.md)`,
      runs,
      port === undefined ? '—' : String(port),
      String(operationsPort),
      database === undefined ? '—' : database === 'api' ? '`sluice_api`' : "the login's rights",
      called.length === 0 ? '—' : called.join(', '),
    ]
  })
  const traffic = names.flatMap((name) => {
    const { kafka, kafkaOnlyWith } = definitionOf(name)
    if (kafka === undefined) return []
    const groups = Object.entries(kafka.groups).map(([group, read]) => {
      const topics = read.length === 0 ? 'dead letters' : read.map((topic) => `\`${topic.name}\``).join(', ')
      return `\`${group}\`: ${topics}`
    })
    const written = [...new Set(kafka.writes.map((topic) => `\`${topic.name}\``))]
    return [
      [
        kafkaOnlyWith === undefined ? name : `${name} (\`${kafkaOnlyWith}\`)`,
        groups.length === 0 ? '—' : groups.join('; '),
        // The API writes dead letters back to every topic.
        written.length > 8 ? 'every topic that has dead letters' : written.join(', '),
      ],
    ]
  })
  expectPage(
    'services.md',
    `# Services

Made from \`schemas/services.ts\`; \`UPDATE_DOCS=1\` before \`tests/documentation\` writes it again. The operations
port answers \`/healthz\`, \`/readyz\` and \`/metrics\`.

${tableOf(['service', 'what it does', 'port', 'operations', 'Postgres', 'calls'], places)}

## Kafka

\`TOPIC_PREFIX\` goes before every name. \`scripts/kafka-acls\` prints the rights that follow.

${tableOf(['service', 'consumer groups and what they read', 'writes'], traffic)}
`,
  )
})
