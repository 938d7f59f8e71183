import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { Problem } from '#http/problem.ts'
import type { Attempt, ThrottleStore } from '../stores/login-throttle-store.ts'

/**
 * OWASP's minimum for argon2id: 19 MiB, two passes, one lane; 60 ms of one core. Stored with each hash, so
 * that it can be raised.
 */
const cost = { memory: 19_456, passes: 2, parallelism: 1 }
const hashBytes = 32
/** Concurrent hashes, out of libuv's four threads, which the process shares. */
const maxRunning = 2
/** Further ones wait up to two seconds. Beyond, callers get 503 and memory stays bounded. */
const maxWaiting = 32

export interface PasswordHasher {
  /** `$argon2id$v=19$m=…,t=…,p=…$salt$hash` */
  hash(password: string): Promise<string>
  /** Takes equally long without a hash (unknown login, or no password). */
  verify(password: string, hash: string | null | undefined): Promise<boolean>
}

export function createPasswordHasher(): PasswordHasher {
  const inTurn = createTurns()
  return {
    async hash(password) {
      const salt = randomBytes(16)
      const hash = await inTurn(() => derive(password, salt, cost))
      const { memory, passes, parallelism } = cost
      return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(hash)}`
    },
    async verify(password, stored) {
      const parsed = stored == null ? undefined : parseHash(stored)
      const { salt, hash, ...costs } = parsed ?? {
        salt: Buffer.alloc(16),
        hash: Buffer.alloc(hashBytes),
        ...cost,
      }
      const derived = await inTurn(() => derive(password, salt, costs))
      return parsed !== undefined && timingSafeEqual(derived, hash)
    },
  }
}

function derive(password: string, nonce: Buffer, costs: typeof cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { message: password.normalize('NFC'), nonce, tagLength: hashBytes, ...costs }
    argon2('argon2id', options, (error, hash) => {
      if (error === null) resolve(hash)
      else reject(error)
    })
  })
}

const pattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]{43})$/

function parseHash(stored: string) {
  const [, memory, passes, parallelism, salt = '', hash = ''] = pattern.exec(stored) ?? []
  if (memory === undefined) throw new Error('a stored password hash is not one of ours')
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

function createTurns() {
  const waiting: (() => void)[] = []
  let running = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= maxRunning) {
      if (waiting.length >= maxWaiting) {
        throw new Problem(503, 'SIGN_IN_BUSY', 'too many people are signing in at this moment', {
          headers: { 'retry-after': '2' },
        })
      }
      // The finished one hands over its turn, so `running` stays the same.
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

/**
 * Whether the password is correct. An attempt that could not be checked (SIGN_IN_BUSY) does not count as
 * failed.
 */
export async function checkPassword(
  { hasher, throttles }: { hasher: PasswordHasher; throttles: ThrottleStore },
  attempt: Attempt,
  password: string,
  hash: string | null | undefined,
): Promise<boolean> {
  try {
    return await hasher.verify(password, hash)
  } catch (error) {
    await throttles.undo(attempt)
    throw error
  }
}
