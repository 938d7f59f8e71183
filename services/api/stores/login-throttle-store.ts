import { createHash } from 'node:crypto'
import { isIPv4 } from 'node:net'
import type { Pool, PoolClient } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'

interface Throttle {
  /** Failures without a delay. */
  free: number
  /** The delay doubles with each further failure, from one second up to this. */
  maxDelayS: number
}

/**
 * Guesses at one password, many logins from one address, and many addresses against one login. The last may
 * delay the real user too, so it is short.
 */
const throttles = {
  pair: { free: 4, maxDelayS: 900 },
  address: { free: 50, maxDelayS: 900 },
  account: { free: 100, maxDelayS: 10 },
} as const satisfies Record<string, Throttle>

/** Failures beyond the free ones that are counted: 2^10 s exceed the longest delay of 900 s. */
const maxBeyondFree = 10
/** The time in which all failures are forgotten, one by one: a busy address would otherwise forget none. */
const forgetMs = 86_400_000

export interface Attempt {
  login: string
  address: string | null
}

export interface ThrottleStore {
  /** Counts an attempt as failed before it is made. Returns the seconds to wait; 0: go on. */
  take(attempt: Attempt, nowMs: number): Promise<number>
  /** The attempt succeeded. */
  clear(attempt: Attempt): Promise<void>
  /** The attempt was not made: no password was checked. */
  undo(attempt: Attempt): Promise<void>
  /** Deletes what is over a day old. */
  tidy(nowMs: number): Promise<void>
}

export function createThrottleStore(pool: Pool): ThrottleStore {
  return {
    async take(attempt, nowMs) {
      const keys = keysOf(attempt)
      // Checked first: a delayed attempt writes nothing and is not counted.
      const waitS = await waitOf(pool, keys, nowMs)
      return waitS > 0 ? waitS : inTransaction(pool, (client) => countAttempt(client, keys, nowMs))
    },
    async clear(attempt) {
      const keys = keysOf(attempt)
      const ofPair = keys.filter(({ kind }) => kind === 'pair').map(({ key }) => key)
      // The other keys get only this attempt back: one known account must not give free guesses at others.
      const others = keys.filter(({ kind }) => kind !== 'pair').map(({ key }) => key)
      await query(
        pool,
        `with cleared as (delete from login_throttles where key = any ($1::bytea[])) ${undoSql('$2')}`,
        [ofPair, others],
      )
    },
    async undo(attempt) {
      await query(pool, undoSql('$1'), [keysOf(attempt).map(({ key }) => key)])
    },
    async tidy(nowMs) {
      await query(pool, 'delete from login_throttles where last_failed_at < $1', [new Date(nowMs - forgetMs)])
    },
  }
}

type Key = Throttle & { key: Buffer }

/** All concurrent attempts are counted before any continues; late ones find their key blocked. */
async function countAttempt(client: PoolClient, keys: readonly Key[], nowMs: number): Promise<number> {
  const now = new Date(nowMs)
  for (const { key, free, maxDelayS } of keys) {
    const most = free + maxBeyondFree
    const forgetOneS = forgetMs / 1_000 / (most + 1)
    const { rowCount } = await client.query(takeSql, [key, now, free, maxDelayS, most, forgetOneS])
    if (rowCount === 0) return Math.max(1, await waitOf(client, keys, nowMs))
  }
  return 0
}

async function waitOf(client: Pool | PoolClient, keys: readonly Key[], nowMs: number): Promise<number> {
  const { rows } = await query<{ until: Date | null }>(
    client,
    'select max(blocked_until) as until from login_throttles where key = any ($1::bytea[])',
    [keys.map(({ key }) => key)],
  )
  return Math.max(0, Math.ceil(((rows[0]?.until?.getTime() ?? 0) - nowMs) / 1_000))
}

// A blocked key returns no row and is not counted again: retries must not lengthen the delay.
// `last_failed_at` advances by what was forgotten, not to now: otherwise frequent attempts would keep the
// failures for ever.
const takeSql = `
  insert into login_throttles as t (key, failures, blocked_until, last_failed_at) values ($1, 1, to_timestamp(0), $2)
  on conflict (key) do update set (failures, blocked_until, last_failed_at) = (
    select least(k.kept, $5::integer) + 1,
      case when k.kept < $3 then to_timestamp(0)
        else $2::timestamptz + make_interval(secs => least($4::float8, power(2, least(k.kept, $5) - $3))) end,
      case when k.kept = 0 then $2 else t.last_failed_at + make_interval(secs => f.forgotten * $6::float8) end
    from (select floor(greatest(0, extract(epoch from $2 - t.last_failed_at)) / $6) as forgotten) f
      cross join lateral (select greatest(0, least(t.failures, $5 + 1) - f.forgotten) as kept) k)
  where t.blocked_until <= $2`

// With the delay that this attempt started: a delayed attempt does not get here.
const undoSql = (keys: string) =>
  `update login_throttles set failures = greatest(failures - 1, 0), blocked_until = to_timestamp(0) where key = any (${keys}::bytea[])`

function keysOf({ login, address }: Attempt) {
  const place = placeOf(address)
  const named = { pair: ['pair', login, place], address: ['address', place], account: ['account', login] }
  return Object.entries(named)
    .map(([kind, parts]) => ({
      kind,
      ...throttles[kind as keyof typeof throttles],
      key: createHash('sha256').update(JSON.stringify(parts)).digest(),
    }))
    .sort((one, other) => Buffer.compare(one.key, other.key))
}

/** A customer with IPv6 has a whole /64. */
function placeOf(address: string | null): string {
  if (address === null || isIPv4(address)) return address ?? 'unknown'
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const after = tail.split(':').filter((group) => group !== '')
  const zeros = address.includes('::') ? Array<string>(8 - groups.length - after.length).fill('0') : []
  return [...groups, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
