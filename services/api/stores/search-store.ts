import { probesPerWord, type WordHash } from '#capture/search/search-signature.ts'
import { idTimeMs, idFromUuid } from '#schemas/ids.ts'
import { sealedBodiesOf, type SealedBodyColumns, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

/** What a signature made with a key must hold. */
export interface Needed {
  keyId: string
  hashes: readonly WordHash[]
}

/** Calls next to each other in time, of one day. */
export interface Slice {
  lookedAt: number
  /** Calls without a signature of a known key. */
  unsigned: number
  /** Those that may hold the words, as UUIDs, newest first. */
  candidates: string[]
  /** The oldest, as a UUID; null: the day has no more. */
  last: string | null
}

export interface SliceRange {
  fromMs: number
  /** Exclusive. */
  toMs: number
  /** Only older calls; null: all. */
  before: string | null
  limit: number
}

/** A call's sealed bodies. */
export interface SealedCall {
  /** `req_…` */
  id: string
  request: SealedBytes | null
  response: SealedBytes | null
}

/** What searches read. */
export function createSearchStore(database: ProjectDatabase<OneProject>) {
  return {
    /** When the oldest call with bodies was made, Unix milliseconds. Undefined: there is none since. */
    async oldestMs(sinceMs: number): Promise<number | undefined> {
      const [row] = await database.query<{ created_at: Date }>(
        `select b.created_at from llm_request_bodies b where :scope(b) and b.created_at >= $2
         order by b.request_id limit 1`,
        [new Date(sinceMs)],
      )
      return row?.created_at.getTime()
    },

    async readSlice({ fromMs, toMs, before, limit }: SliceRange, needed: readonly Needed[]): Promise<Slice> {
      const numbers = needed.flatMap(({ hashes }) => hashes.flatMap((hash) => [...hash]))
      const [row] = await database.query<{
        looked_at: number
        unsigned: number
        candidates: string[] | null
        last: string | null
      }>(sliceSql(needed), [
        new Date(fromMs),
        new Date(toMs),
        before ?? newestUuid,
        limit,
        needed.map(({ keyId }) => keyId),
        numbers,
      ])
      return {
        lookedAt: row?.looked_at ?? 0,
        unsigned: row?.unsigned ?? 0,
        candidates: (row?.candidates ?? []).sort().reverse(),
        last: row?.last ?? null,
      }
    },

    /** How many bytes the sealed bodies of calls take, newest first. Erased ones are left out. */
    async sizesOf(uuids: readonly string[]): Promise<{ id: string; bytes: number }[]> {
      return database.query<{ id: string; bytes: number }>(
        `select b.request_id as id, coalesce(octet_length(b.request_data), 0) + coalesce(octet_length(b.response_data), 0) as bytes
         from llm_request_bodies b where :scope(b) and ${amongCalls} order by b.request_id desc`,
        amongValues(uuids),
      )
    },

    async readBodies(uuids: readonly string[]): Promise<SealedCall[]> {
      const rows = await database.query<SealedBodyColumns & { request_id: string }>(
        `select b.request_id, b.request_codec, b.request_key_id, b.request_data, b.response_codec, b.response_key_id, b.response_data
         from llm_request_bodies b where :scope(b) and ${amongCalls} order by b.request_id desc`,
        amongValues(uuids),
      )
      return rows.map((row) => ({ id: idFromUuid('request', row.request_id), ...sealedBodiesOf(row) }))
    },
  }
}

const newestUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The bounds of time select the partitions. */
const amongCalls = 'b.request_id = any ($2::uuid[]) and b.created_at between $3 and $4'

function amongValues(uuids: readonly string[]): unknown[] {
  const times = uuids.map((uuid) => idTimeMs(idFromUuid('request', uuid)))
  return [uuids, new Date(Math.min(...times)), new Date(Math.max(...times))]
}

/**
 * One pass over the newest `limit` calls with bodies: nothing is sorted or kept but what may match. Calls
 * without a signature may match. Without LIMIT in the lateral join the planner hashes and sorts the whole
 * rest of the day for every slice, beyond work_mem.
 */
function sliceSql(needed: readonly Needed[]): string {
  const isSigned = 'octet_length(bits) > 0 and key_id = any ($6::text[])'
  return `
    select count(*)::integer as looked_at, count(*) filter (where (${isSigned}) is not true)::integer as unsigned,
      array_agg(request_id) filter (where case when (${isSigned}) is not true then true ${needed.map(keyCase).join(' ')} end) as candidates,
      min(request_id::text) as last
    from (
      select b.request_id, b.created_at from llm_request_bodies b
      where :scope(b) and b.created_at >= $2 and b.created_at < $3 and b.request_id < $4::uuid
      order by b.request_id desc limit $5
    ) slice left join lateral (
      select key_id, bits from search_signatures s
      where :scope(s) and s.request_id = slice.request_id and s.created_at = slice.created_at and s.created_at >= $2 and s.created_at < $3 limit 1
    ) signature on true
    where $7::bigint[] is not null`
}

/** A row fails at its second bit in most cases, so the order of the probes is as good as any. */
function keyCase({ hashes }: Needed, index: number, all: readonly Needed[]): string {
  const first = all.slice(0, index).reduce((sum, each) => sum + each.hashes.length * probesPerWord, 0)
  const probes = Array.from(
    { length: hashes.length * probesPerWord },
    (_, at) => `get_bit(bits, ($7::bigint[])[${first + at + 1}] % (octet_length(bits) * 8)) = 1`,
  )
  return `when key_id = ($6::text[])[${index + 1}] then ${['true', ...probes].join(' and ')}`
}
