/**
 * What became of a record: `stored` now; `redelivered`, if stored before and a crash may have prevented its
 * job; `resent` by a client; `erased`, if its erasure was requested.
 */
export type Disposition = 'stored' | 'redelivered' | 'resent' | 'erased'

/**
 * The disposition of each record of a batch. `firstTime`: the identities that this transaction stored.
 * `positionBefore`: the offset behind what earlier transactions stored. A known record below it was delivered
 * before; at or above it is another copy. Of several copies only the first is stored or redelivered: one call
 * gets one job. `seen`: the identities of batches stored together with this one; those of this one are added.
 */
export function decideDispositions(
  records: readonly { identity: string; offset: bigint }[],
  {
    firstTime,
    erased,
    positionBefore,
    seen = new Set(),
  }: {
    firstTime: ReadonlySet<string>
    erased: ReadonlySet<string>
    positionBefore: bigint
    seen?: Set<string>
  },
): Disposition[] {
  return records.map(({ identity, offset }) => {
    if (erased.has(identity)) return 'erased'
    if (seen.has(identity)) return 'resent'
    seen.add(identity)
    if (firstTime.has(identity)) return 'stored'
    return offset < positionBefore ? 'redelivered' : 'resent'
  })
}
