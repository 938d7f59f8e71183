import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { definitionOf, processNames } from '#schemas/services.ts'
import { topics, topicsToCreate, type TopicDefinition } from '#schemas/topics.ts'
import { grantsOf, kafkaClients, type KafkaClient, type Operation } from './kafka-acls.ts'

const services = join(import.meta.dirname, '..', 'services')
const clients = kafkaClients

/** The clients that a sentence of schemas/topics.ts names. */
function named(sentence: string): KafkaClient[] {
  const names = sentence.replace(/\bingest\b/g, 'api')
  return clients.filter((client) => new RegExp(String.raw`\b${client}\b`).test(names))
}

function holders(topic: string, operation: Operation): KafkaClient[] {
  return clients.filter((client) =>
    grantsOf(client, '').some(({ name, operations }) => name === topic && operations.includes(operation)),
  )
}

test.each(Object.values(topics).map((topic: TopicDefinition) => [topic.name, topic] as const))(
  '%s is read and written by those whom schemas/topics.ts names, and by nobody else',
  (name, { writtenBy, readBy, deadLetters }) => {
    expect(holders(name, 'READ')).toEqual(named(readBy))
    // The API sends dead letters back to their topics.
    const writers = new Set([...named(writtenBy), ...(deadLetters ? ['api'] : [])])
    expect(new Set(holders(name, 'WRITE'))).toEqual(writers)
    if (!deadLetters) return
    expect(holders(`${name}.dlq`, 'READ')).toEqual(['api', 'sink'])
    expect(holders(`${name}.dlq`, 'WRITE')).toEqual(named(readBy))
  },
)

test('only the migration creates and changes topics, and none deletes one', () => {
  for (const { name } of topicsToCreate()) {
    for (const operation of ['CREATE', 'ALTER', 'ALTER_CONFIGS'] as const)
      expect(holders(name, operation)).toEqual(['migrate'])
    expect(holders(name, 'DELETE')).toEqual([])
  }
})

test('only the service whose source names a group may join it', () => {
  for (const client of processNames) {
    if (Object.keys(definitionOf(client).kafka?.groups ?? {}).length === 0) continue
    const source = globSync('**/*.ts', { cwd: join(services, client) })
      .filter((file) => !/test|fixture/.test(file))
      .map((file) => readFileSync(join(services, client, file), 'utf8'))
      .join('\n')
    for (const { resource, name, pattern, operations } of grantsOf(client, '')) {
      if (resource !== 'GROUP' || !operations.includes('READ')) continue
      const spellings = [`\${config.TOPIC_PREFIX}${name}`, `\${TOPIC_PREFIX}${name}`, `'${name}'`]
      const isThere = spellings.some((text) => source.includes(text))
      expect({ name, pattern, isThere }).toEqual({ name, pattern, isThere: true })
      expect(holders(name, 'READ')).toEqual([client])
    }
  }
})

test('every name has the prefix of a shared cluster', () => {
  for (const client of clients)
    for (const { name } of grantsOf(client, 'prod.')) expect(name).toMatch(/^prod\.(?!prod\.)/)
})
