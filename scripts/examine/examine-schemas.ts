import { askRegistry, readersLevel, readLevel } from '#infra/ask-registry.ts'
import { avroSchemas, topics, type TopicDefinition } from '#schemas/topics.ts'
import type { System } from './find-system.ts'
import { ok, problem, type Finding } from './finding.ts'

/** Whether the registry has every topic's schema, and whether its schemas can be read. */
export async function examineSchemas({ config }: System): Promise<Finding[]> {
  const registry = config.SCHEMA_REGISTRY_URL
  const findings = await Promise.all(
    Object.values(topics).map(async ({ name, schema }: TopicDefinition) => {
      const subject = `${config.TOPIC_PREFIX}${name}-value`
      // By name: a registry with many subjects lists only some.
      if ((await askRegistry(registry, `/subjects/${encodeURIComponent(subject)}/versions`)) === undefined)
        return [problem('schemas', `${subject} is not registered`, 'scripts/migrate registers it')]
      return [
        ...(await examineLevel(registry, subject)),
        ...(await examineSchema(registry, subject, avroSchemas[schema])),
      ]
    }),
  )
  const wrong = findings.flat()
  return wrong.length > 0
    ? wrong
    : [ok('schemas', `all ${findings.length} subjects have the schemas of this version`)]
}

async function examineLevel(registry: string, subject: string): Promise<Finding[]> {
  const found = await readLevel(registry, subject)
  if (found === readersLevel) return []
  const what = `${subject}: compatibility is ${found ?? 'not set'}, not ${readersLevel}: a schema that breaks readers would be taken`
  return [problem('schemas', what, 'scripts/migrate sets it')]
}

async function examineSchema(registry: string, subject: string, schema: object): Promise<Finding[]> {
  const of = encodeURIComponent(subject)
  const body = { body: { schema: JSON.stringify(schema) } }
  if ((await askRegistry(registry, `/subjects/${of}`, body)) !== undefined) return []
  const answer = await askRegistry<{ is_compatible: boolean }>(
    registry,
    `/compatibility/subjects/${of}/versions`,
    body,
  )
  return answer?.is_compatible === true
    ? [
        problem(
          'schemas',
          `${subject} has an older schema than this version writes`,
          'scripts/migrate registers it',
        ),
      ]
    : [
        problem(
          'schemas',
          `${subject}: what is registered and the schema of this version are incompatible`,
          'somebody else registered a schema there: find out who, then delete that version in the registry, or use a TOPIC_PREFIX of your own',
        ),
      ]
}
