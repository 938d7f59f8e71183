import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { EncryptionKey } from './encryption-keys.ts'
import { PermanentError, messageOf } from './errors.ts'
import type { Log } from './log.ts'
import { nextNonce, nonceBytes } from './next-nonce.ts'
import { zstdContentSize } from './zstd-size.ts'

/** Bytes in transit and at rest: compressed, and encrypted where keys are configured. */
export interface Sealed {
  codec: string
  key_id: string | null
  data: Buffer
}

/**
 * `identity` names the owner of the bytes. It is the encryption's associated data, so sealed bytes that are
 * moved to another record do not open.
 */
export interface Sealer {
  seal(bytes: Buffer, identity: string): Sealed
  /** Throws PermanentError `CANNOT_OPEN`: the key is not configured, or bytes or identity have changed. */
  open(sealed: Sealed, identity: string): Buffer
  /** The size once opened, read without decompression; undefined: unknown. Throws as `open` does. */
  sizeOf(sealed: Sealed, identity: string): number | undefined
}

const tagBytes = 16
// Smaller texts gain nothing from zstd: header and sequence section take what they save.
const compressFromBytes = 128
const maxChunkBytes = 16 * 1024
/** Larger opened values are refused: BODY_MAX_BYTES is 10 MiB, and hostile frames expand a thousandfold. */
const maxOpenedBytes = 64 * 1024 * 1024

/** The first of `keys` encrypts, each can decrypt. No keys: bytes are only compressed. */
export function createSealer(keys: readonly EncryptionKey[]): Sealer {
  // As key objects: raw bytes are checked at every use, for 45 µs under load.
  const known = keys.map(({ id, key }) => ({ id, key: createSecretKey(key) }))
  const byId = new Map(known.map(({ id, key }) => [id, key]))
  const current = known[0]
  return {
    seal(bytes, identity) {
      const compressed = bytes.length < compressFromBytes ? bytes : compress(bytes)
      const smaller = compressed.length < bytes.length
      const codec = smaller ? 'zstd' : 'none'
      const data = smaller ? compressed : bytes
      if (current === undefined) return { codec, key_id: null, data }
      return { codec, key_id: current.id, data: encrypt(data, current.key, identity) }
    },
    open({ codec, key_id, data }, identity) {
      try {
        const compressed = decrypted({ key_id, data }, byId, identity)
        return codec === 'zstd'
          ? zstdDecompressSync(compressed, { maxOutputLength: maxOpenedBytes })
          : compressed
      } catch (error) {
        throw cannotOpen(error)
      }
    },
    sizeOf({ codec, key_id, data }, identity) {
      try {
        const compressed = decrypted({ key_id, data }, byId, identity)
        return codec === 'zstd' ? zstdContentSize(compressed) : compressed.length
      } catch (error) {
        throw cannotOpen(error)
      }
    },
  }
}

/** Seals under the first key what another key sealed, without decompression. */
export interface Resealer {
  currentKeyId: string
  /** Throws PermanentError `CANNOT_OPEN` as Sealer does. */
  reseal(sealed: Sealed, identity: string): Sealed
}

/** Warns at start, for services that write bodies. */
export function warnWithoutKeys(keys: readonly EncryptionKey[], log: Pick<Log, 'warn'>): void {
  if (keys.length === 0)
    log.warn('BODY_ENCRYPTION_KEYS is not set: bodies are stored unencrypted in Kafka and Postgres')
}

/** The first of `keys` seals, each can open. Undefined without keys. */
export function createResealer(keys: readonly EncryptionKey[]): Resealer | undefined {
  const byId = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]))
  const currentKeyId = keys[0]?.id
  if (currentKeyId === undefined) return undefined
  return {
    currentKeyId,
    reseal({ codec, key_id, data }, identity) {
      try {
        const packed = decrypted({ key_id, data }, byId, identity)
        return { codec, key_id: currentKeyId, data: encrypt(packed, keyNamed(byId, currentKeyId), identity) }
      } catch (error) {
        throw cannotOpen(error)
      }
    },
  }
}

/**
 * Compresses with a pledged size, so that zstd makes fitting tables instead of 700 kB for each body, which
 * also drive V8's garbage collector: ingest takes 350 instead of 510 µs of CPU for a record with two bodies
 * of 1 kB. The output buffer has the size of the body; a larger output is not used.
 */
function compress(bytes: Buffer): Buffer {
  return zstdCompressSync(bytes, {
    pledgedSrcSize: bytes.length,
    chunkSize: Math.min(bytes.length, maxChunkBytes),
  })
}

function cannotOpen(error: unknown): PermanentError {
  return new PermanentError('CANNOT_OPEN', `sealed bytes cannot be opened: ${messageOf(error)}`, {
    cause: error,
  })
}

function decrypted(
  { key_id, data }: Omit<Sealed, 'codec'>,
  keys: ReadonlyMap<string, KeyObject>,
  identity: string,
): Buffer {
  return key_id === null ? data : decrypt(data, keyNamed(keys, key_id), identity)
}

function keyNamed(keys: ReadonlyMap<string, KeyObject>, id: string): KeyObject {
  const key = keys.get(id)
  if (key === undefined) throw new Error(`no key "${id}" in BODY_ENCRYPTION_KEYS`)
  return key
}

function encrypt(data: Buffer, key: KeyObject, identity: string): Buffer {
  const nonce = nextNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(identity))
  return Buffer.concat([nonce, cipher.update(data), cipher.final(), cipher.getAuthTag()])
}

function decrypt(data: Buffer, key: KeyObject, identity: string): Buffer {
  if (data.length < nonceBytes + tagBytes) throw new Error('shorter than a nonce and a tag')
  const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, nonceBytes))
    .setAAD(Buffer.from(identity))
    .setAuthTag(data.subarray(data.length - tagBytes))
  return Buffer.concat([decipher.update(data.subarray(nonceBytes, data.length - tagBytes)), decipher.final()])
}
