/**
 * What became of a record: `stored` now; `redelivered`, if stored before and a crash may have prevented its
 * job; `resent` by a client; `erased`, if its erasure was requested.
 */
export type Disposition = 'stored' | 'redelivered' | 'resent' | 'erased'

/**
 * The disposition of each record of a batch. `firstTime`: the identities that this transaction stored.
 * `positionBefore`: the offset behind what earlier transactions stored. A known record below it was delivered
 * before; at or above it is another copy. Of several copies in a batch only the first is stored or
 * redelivered: one call gets one job.
 */
export function decideDispositions(
  records: readonly { identity: string; offset: bigint }[],
  {
    firstTime,
    erased,
    positionBefore,
  }: { firstTime: ReadonlySet<string>; erased: ReadonlySet<string>; positionBefore: bigint },
): Disposition[] {
  const seen = new Set<string>()
  return records.map(({ identity, offset }) => {
    if (erased.has(identity)) return 'erased'
    if (seen.has(identity)) return 'resent'
    seen.add(identity)
    if (firstTime.has(identity)) return 'stored'
    return offset < positionBefore ? 'redelivered' : 'resent'
  })
}
