/**
 * What became of a record: `stored` now; `redelivered`, when it was stored before and this delivery repeats one that a crash may have cut
 * off before its job was published; `resent`, when a client sent it again; `erased`, when somebody asked to erase it.
 */
export type Disposition = 'stored' | 'redelivered' | 'resent' | 'erased'

/**
 * The fate of each record of a batch. `firstTime` holds the identities that this transaction stored; `positionBefore` is the offset behind what
 * earlier transactions stored. A known record below it was delivered before, one at or above it is another copy. Of several copies in
 * one batch only the first is stored or redelivered, so that no batch makes two jobs for one call.
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
