import { SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import type { Type } from 'avsc'
import { messageOf, PermanentError, TransientError } from '../errors.ts'
import type { Log } from '../log.ts'
import { avroType, misfits, writerType } from './avro-type.ts'
import type { Decoder, Encoder } from './records.ts'
import { registryAddress } from './registry-address.ts'
import { readSchemaId, wirePrefixBytes, writeWirePrefix } from './wire-format.ts'

export interface Codec<T> extends Encoder<T>, Decoder<T> {
  /**
   * Loads the id that `encode` needs, so that a later outage of the registry stops nothing. Throws as
   * `encode` does.
   */
  prepare(): Promise<void>
}

export interface RegistryCodec {
  /** Values of `subject` (`<topic>-value`, with prefix) with the Avro `schema` that this process knows. */
  codec<T>(options: { subject: string; schema: object }): Codec<T>
}

interface RegistryCodecOptions {
  url: string
  log: Log
}

type Decode = (avroBytes: Buffer) => unknown

/**
 * Avro values whose schemas are in a registry. The first use of an id asks the registry. Ids never change
 * their meaning, so answers are cached for good and an outage stops only unknown ids. Services never register
 * schemas: infra does (registerSchemas) before they start. So a deployment cannot change a contract, and
 * services need no write access (docs/decisions/0011).
 */
export function createRegistryCodec({ url, log }: RegistryCodecOptions): RegistryCodec {
  // Few retries here: the runtime retries transient errors, with heartbeats.
  const registry = new SchemaRegistry({
    ...registryAddress(url),
    retry: { retries: 2, initialRetryTimeInSecs: 0.1, maxRetryTimeInSecs: 1 },
  })
  return {
    codec: <T>({ subject, schema }: { subject: string; schema: object }): Codec<T> => {
      const ownType = avroType(schema)
      const ownId = keepWhenResolved(() => findOwnId(registry, subject, schema))
      const decoders = new Map<number, () => Promise<Decode>>()
      const decodersNow = new Map<number, Decode>()
      const decoderOf = (id: number) => {
        const known = decoders.get(id)
        if (known !== undefined) return known()
        const fetching = keepWhenResolved(() => makeDecode(registry, ownType, id, log))
        decoders.set(id, fetching)
        return fetching()
      }
      return {
        prepare: async () => {
          await ownId()
        },
        encode: async (value) => encodeWith(ownType, await ownId(), value),
        decode: async (value) => {
          const id = readSchemaId(value)
          if (id === undefined) throw undecodable('the value does not start with a schema id')
          const decode = await decoderOf(id)
          decodersNow.set(id, decode)
          return decodeWith(decode, value) as T
        },
        decodeNow(value) {
          const decode = decodersNow.get(readSchemaId(value) ?? NaN)
          if (decode === undefined) return undefined
          try {
            return decodeWith(decode, value) as T
          } catch {
            // `decode` reports the reason.
            return undefined
          }
        },
      }
    },
  }
}

/** Runs `make` once at a time and caches its result. A failure is not cached: the next caller tries again. */
function keepWhenResolved<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined
  return () => {
    if (kept === undefined) {
      const making = make()
      kept = making
      making.catch(() => {
        kept = undefined
      })
    }
    return kept
  }
}

async function findOwnId(registry: SchemaRegistry, subject: string, schema: object): Promise<number> {
  try {
    return await registry.getRegistryIdBySchema(subject, schema as never)
  } catch (error) {
    // How the client library reports a 404; its other errors have a status.
    if (!(error instanceof Error && error.name === 'ConfluentSchemaRegistryError')) throw unavailable(error)
    const message = `subject ${subject} does not hold our schema: register it (infra/create-topics.ts)`
    throw new TransientError('SCHEMA_NOT_REGISTERED', message, { cause: error })
  }
}

async function makeDecode(registry: SchemaRegistry, ownType: Type, id: number, log: Log): Promise<Decode> {
  let written: object
  try {
    written = await registry.getSchema(id)
  } catch (error) {
    if (statusOf(error) !== 404) throw unavailable(error)
    throw undecodable(`the registry knows no schema ${id}`, error)
  }
  try {
    const resolver = ownType.createResolver(writerType(JSON.parse(JSON.stringify(written)) as object))
    log.debug({ schema_id: id }, 'schema resolved')
    return (avroBytes) => ownType.fromBuffer(avroBytes, resolver) as unknown
  } catch (error) {
    throw undecodable(`schema ${id} cannot be read as ${ownType.name ?? 'ours'}: ${messageOf(error)}`, error)
  }
}

// Most records fit; a larger one gets its own buffer. Shared, because encoding is synchronous.
const workspace = Buffer.allocUnsafeSlow(64 * 1024)

function encodeWith(type: Type, id: number, value: unknown): Buffer {
  try {
    const end = type.encode(value, workspace, wirePrefixBytes)
    // A negative result is minus the number of missing bytes.
    const wire =
      end < 0 ? Buffer.allocUnsafe(workspace.length - end) : Buffer.from(workspace.subarray(0, end))
    if (end < 0) type.encode(value, wire, wirePrefixBytes)
    writeWirePrefix(wire, id)
    return wire
  } catch (error) {
    const fields = misfits(type, value).join(', ')
    const message = `the value does not fit its schema at ${fields === '' ? messageOf(error) : fields}`
    throw new PermanentError('UNENCODABLE', message, { cause: error })
  }
}

function decodeWith(decode: Decode, value: Buffer): unknown {
  try {
    return decode(value.subarray(wirePrefixBytes))
  } catch (error) {
    throw undecodable(messageOf(error), error)
  }
}

function undecodable(message: string, cause?: unknown): PermanentError {
  return new PermanentError('UNDECODABLE', message, { cause })
}

function unavailable(error: unknown): TransientError {
  return new TransientError('REGISTRY_UNAVAILABLE', `schema registry: ${messageOf(error)}`, { cause: error })
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error)) return undefined
  return typeof error.status === 'number' ? error.status : undefined
}
