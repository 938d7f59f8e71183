import type { ClientBase } from 'pg'
import { labelCall, type CallLabels, type CountedKey, type LabelledOf } from '#schemas/call-labels.ts'

export type Labeller = (of: LabelledOf) => CallLabels

/** A key is counted from a minute after it was declared: every sink knows it by then. */
const freshMs = 15_000

/** Reads the metadata keys that projects declare, of all projects at once. */
export function createLabelReader(): (client: ClientBase) => Promise<Labeller> {
  let keysOf: ReadonlyMap<string, { name: string; fromMs: number }[]> = new Map()
  let readAtMs = -Infinity
  return async (client) => {
    const nowMs = performance.now()
    if (nowMs - readAtMs > freshMs) {
      const { rows } = await client.query<{ id: string; metadata_keys: CountedKey[] }>(
        `select id, metadata_keys from projects where metadata_keys <> '[]'`,
      )
      keysOf = new Map(
        rows.map(({ id, metadata_keys: keys }) => [
          id,
          keys.map(({ name, counted_from }) => ({ name, fromMs: Date.parse(counted_from) })),
        ]),
      )
      readAtMs = nowMs
    }
    return (of) => labelCall(of, keysOf.get(of.projectUuid) ?? [])
  }
}
