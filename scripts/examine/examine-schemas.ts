import { fetchRegistry } from '#runtime/kafka/registry-address.ts'
import { avroSchemas, topics, type TopicDefinition } from '#schemas/topics.ts'
import type { System } from './find-system.ts'
import { ok, problem, type Finding } from './finding.ts'

const timeoutMs = 10_000
const level = 'BACKWARD_TRANSITIVE'

/** Whether the registry has the schema of every topic, and whether what it has can be read. */
export async function examineSchemas({ config }: System): Promise<Finding[]> {
  const registry = config.SCHEMA_REGISTRY_URL
  const findings = await Promise.all(
    Object.values(topics).map(async ({ name, schema }: TopicDefinition) => {
      const subject = `${config.TOPIC_PREFIX}${name}-value`
      // By name: a registry with many subjects lists only some.
      if ((await ask(registry, `/subjects/${encodeURIComponent(subject)}/versions`)) === undefined)
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
  const answer = await ask<{ compatibilityLevel?: string }>(
    registry,
    `/config/${encodeURIComponent(subject)}`,
  )
  const found = answer?.compatibilityLevel ?? 'not set'
  if (found === level) return []
  const what = `${subject}: compatibility is ${found}, not ${level}: a schema that breaks readers would be taken`
  return [problem('schemas', what, 'scripts/migrate sets it')]
}

async function examineSchema(registry: string, subject: string, schema: object): Promise<Finding[]> {
  const of = encodeURIComponent(subject)
  const body = { schema: JSON.stringify(schema) }
  if ((await ask(registry, `/subjects/${of}`, body)) !== undefined) return []
  const answer = await ask<{ is_compatible: boolean }>(
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

/** Undefined: the registry has no such thing. */
async function ask<T>(registry: string, path: string, body?: object): Promise<T | undefined> {
  const response = await fetchRegistry(registry, path, {
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined
      ? {}
      : {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
        }),
  })
  const text = await response.text()
  if (response.status === 404) return undefined
  if (!response.ok)
    throw new Error(`the registry answered ${path} with ${response.status}: ${text.slice(0, 200)}`)
  return JSON.parse(text) as T
}
