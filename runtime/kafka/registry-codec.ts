import { SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import type { Type } from 'avsc'
import { messageOf, PermanentError, TransientError } from '../errors.ts'
import type { Log } from '../log.ts'
import { avroType, misfits, writerType } from './avro-type.ts'
import type { Decoder, Encoder } from './records.ts'
import { registryAddress } from './registry-address.ts'
import { readSchemaId, wirePrefixBytes, writeWirePrefix } from './wire-format.ts'

export interface Codec<T> extends Encoder<T>, Decoder<T> {
  /** Gets the id that `encode` needs, so that a registry that goes away later stops nothing. Throws as `encode` does. */
  prepare(): Promise<void>
}

export interface RegistryCodec {
  /** Values of `subject` (`<topic>-value`, prefix included) with the Avro `schema` as this process knows it. */
  codec<T>(options: { subject: string; schema: object }): Codec<T>
}

interface RegistryCodecOptions {
  url: string
  log: Log
}

type Decode = (avroBytes: Buffer) => unknown

/**
 * Avro values whose schemas stand in a registry. The registry is asked once for each id, by whoever needs it first; what is
 * known is kept for good (an id never changes its meaning), so an outage stops only what was never seen.
 *
 * Services look their schemas up and register nothing: infra does (registerSchemas), before they start. So a service
 * cannot change a contract by being deployed, and needs no right to write there (docs/decisions/0011).
 */
export function createRegistryCodec({ url, log }: RegistryCodecOptions): RegistryCodec {
  // The registry's own retries are few: the runtime retries what is transient, with heartbeats.
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
            // `decode` says why.
            return undefined
          }
        },
      }
    },
  }
}

/** Calls `make` once at a time and keeps what it resolved to; a failure is forgotten, so that the next caller tries again. */
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
    // What the client library makes of a 404; its other errors carry a status.
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

// Most records fit; a larger one gets a buffer of its own. Shared, because encoding does not wait for anything.
const workspace = Buffer.allocUnsafeSlow(64 * 1024)

function encodeWith(type: Type, id: number, value: unknown): Buffer {
  try {
    const end = type.encode(value, workspace, wirePrefixBytes)
    // A negative answer is minus the bytes that are missing.
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
