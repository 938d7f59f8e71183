import { systemClock, type Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Assigned } from './assignment.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'

type Place = Pick<Assigned, 'topic' | 'partition'> & Partial<Assigned>

interface GapOptions {
  groupId: string
  /** The first offset of each partition of the topic. */
  readEnds: (topic: string) => Promise<readonly { partition: number; low: string }[]>
  assigned: () => Iterable<Assigned>
  clock?: Clock | undefined
  log: Log
  metrics: ConsumerMetrics
}

/**
 * Records deleted before they were read: counted, logged, and searched for where no later record shows the
 * gap.
 */
export interface Gaps {
  /** Reports `missing` records before `low`, except those already reported at the same offset. */
  report(place: Place, missing: bigint, low: bigint): void
  /** Suspends the search while the partition is worked on. */
  during(assigned: Assigned, work: () => Promise<void> | void): Promise<void>
  /**
   * Called with every fetch. A partition whose unread records were deleted delivers no batch that shows it,
   * and kafkajs has by then moved the group to the oldest record, so a restart would hide the gap. Idle
   * partitions are checked.
   */
  look(): void
}

const everyMs = 30_000

export function createGaps(options: GapOptions): Gaps {
  const { groupId: group, assigned, readEnds, clock = systemClock, log, metrics } = options
  const busy = new Set<Assigned>()
  const told = new WeakMap<Place, { at: bigint | undefined; missing: bigint }>()
  let stood = new Map<Assigned, bigint>()
  let lookedAtMs = -Infinity

  const report: Gaps['report'] = (place, missing, low) => {
    const { topic, partition, next: at } = place
    const before = told.get(place)
    const fresh = missing - (before?.at === at ? (before?.missing ?? 0n) : 0n)
    if (fresh <= 0n) return
    told.set(place, { at, missing })
    metrics.skipped(topic, Number(fresh))
    const gap = { topic, partition, missing: fresh.toString(), next: low.toString(), group }
    log.error(gap, 'records were deleted before they were read')
  }

  async function lookAt(places: ReadonlyMap<Assigned, bigint>): Promise<void> {
    for (const [topic, ofTopic] of Map.groupBy(places, ([place]) => place.topic)) {
      const ends = await readEnds(topic)
      for (const [place, next] of ofTopic) {
        // Only the low offset: right after a change of leaders the high one is briefly too low.
        const low = BigInt(ends.find(({ partition }) => partition === place.partition)?.low ?? 0)
        const stands = place.next === next && !busy.has(place) && new Set(assigned()).has(place)
        if (stands && low > next) report(place, low - next, low)
      }
    }
  }

  return {
    report,
    async during(place, work) {
      busy.add(place)
      try {
        await work()
      } finally {
        busy.delete(place)
      }
    },
    look() {
      if (clock.now() - lookedAtMs < everyMs) return
      lookedAtMs = clock.now()
      const now = new Map([...assigned()].map((place) => [place, place.next]))
      const still = new Map([...now].filter(([place, next]) => stood.get(place) === next && !busy.has(place)))
      stood = now
      lookAt(still).catch((error: unknown) =>
        log.warn({ group, reason: messageOf(error) }, 'checking for deleted records failed'),
      )
    },
  }
}
