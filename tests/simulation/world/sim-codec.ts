import { PermanentError, TransientError } from '#runtime/errors.ts'
import { avroType } from '#runtime/kafka/avro-type.ts'
import type { Decoder, Encoder } from '#runtime/kafka/records.ts'
import { avroSchemas, type SchemaName, type TopicValues } from '#schemas/topics.ts'
import type { World } from './world.ts'

const types = new Map(Object.entries(avroSchemas).map(([name, schema]) => [name, avroType(schema)]))

/** Encodes a topic's values by our schemas. Fails while the registry is down. */
export function createSimCodec<S extends SchemaName>(
  world: World,
  schema: S,
): Encoder<TopicValues[S]> & Decoder<TopicValues[S]> {
  const type = types.get(schema)
  if (type === undefined) throw new Error(`no schema ${schema}`)
  const ask = () => {
    if (world.faults.isAway('registry'))
      throw new TransientError('REGISTRY_UNAVAILABLE', 'the registry does not answer')
  }
  return {
    encode: async (value) => {
      await Promise.resolve()
      ask()
      if (!type.isValid(value)) throw new PermanentError('UNENCODABLE', `no ${schema}`)
      return type.toBuffer(value)
    },
    decode: async (bytes) => {
      await Promise.resolve()
      ask()
      return type.fromBuffer(bytes) as TopicValues[S]
    },
    decodeNow: (bytes) =>
      world.faults.isAway('registry') ? undefined : (readValue(schema, bytes) ?? undefined),
  }
}

/** For observers outside the simulation, who are not affected by outages. */
export function writeValue<S extends SchemaName>(schema: S, value: TopicValues[S]): Buffer {
  return types.get(schema)?.toBuffer(value) as Buffer
}

export function readValue<S extends SchemaName>(schema: S, bytes: Buffer): TopicValues[S] | null {
  try {
    return types.get(schema)?.fromBuffer(bytes) as TopicValues[S]
  } catch {
    // Bytes that are no record, sent on purpose.
    return null
  }
}
