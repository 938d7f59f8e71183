import { createHash } from 'node:crypto'
import { isIPv4 } from 'node:net'
import type { Pool, PoolClient } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'

interface Throttle {
  /** Failures that cost nothing. */
  free: number
  /** The delay doubles with each failure beyond, from one second up to this. */
  maxDelayS: number
}

/**
 * Somebody who guesses one password, somebody who tries many names from one place, and many places that guess one person's: the last may
 * keep that person waiting too, so its delay is short.
 */
const throttles = {
  pair: { free: 4, maxDelayS: 900 },
  address: { free: 50, maxDelayS: 900 },
  account: { free: 100, maxDelayS: 10 },
} as const satisfies Record<string, Throttle>

/** Beyond its free ones a key counts no more failures than it takes to come to the longest delay: 2^10 s are more than 900 s. */
const maxBeyondFree = 10
/** As much as can be counted is forgotten in a day, little by little: a place where people come and go all day would forget nothing otherwise. */
const forgetMs = 86_400_000

export interface Attempt {
  login: string
  address: string | null
}

export interface ThrottleStore {
  /** Counts an attempt as failed before it is made. Seconds to wait, or 0: go on. */
  take(attempt: Attempt, nowMs: number): Promise<number>
  /** It was not a failure. */
  clear(attempt: Attempt): Promise<void>
  /** It came to nothing: no password was looked at. */
  undo(attempt: Attempt): Promise<void>
  /** Forgets what is over a day old. */
  tidy(nowMs: number): Promise<void>
}

export function createThrottleStore(pool: Pool): ThrottleStore {
  return {
    async take(attempt, nowMs) {
      const keys = keysOf(attempt)
      // Looked at first, so that whoever has to wait writes nothing and counts nowhere.
      const waitS = await waitOf(pool, keys, nowMs)
      return waitS > 0 ? waitS : inTransaction(pool, (client) => countAttempt(client, keys, nowMs))
    },
    async clear(attempt) {
      const keys = keysOf(attempt)
      const ofPair = keys.filter(({ kind }) => kind === 'pair').map(({ key }) => key)
      // Only this attempt is taken back from the others: who has one account must not get free guesses at others by it.
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

/** Each of many at once counts before any of them goes on: whichever comes too late finds its key blocked by the others. */
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

// No row comes back while the key is blocked: it is not counted again, or impatience alone would lengthen the wait. `last_failed_at` moves on by what
// was forgotten and not to now, or attempts that come faster than failures are forgotten would keep them for ever.
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

// With the delay that the attempt itself began: whoever had to wait for another's did not come as far as here.
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

/** An IPv6 customer has a whole /64 to choose from. */
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
