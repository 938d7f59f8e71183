import { systemClock, type Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Assigned } from './assignment.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'

type Place = Pick<Assigned, 'topic' | 'partition'> & Partial<Assigned>

interface GapOptions {
  groupId: string
  /** Where each partition of the topic begins. */
  readEnds: (topic: string) => Promise<readonly { partition: number; low: string }[]>
  assigned: () => Iterable<Assigned>
  clock?: Clock | undefined
  log: Log
  metrics: ConsumerMetrics
}

/** What is gone before it was read: counted, logged, and looked for where no record shows it. */
export interface Gaps {
  /** `missing` records before `low`, without those that were told of while it stood at the same place. */
  report(place: Place, missing: bigint, low: bigint): void
  /** Nothing is looked for while it is being worked on. */
  during(assigned: Assigned, work: () => Promise<void> | void): Promise<void>
  /**
   * Asked with every fetch. Where records were deleted and none stands behind them no batch comes that would show it, and kafkajs has told the group by then to
   * begin at the oldest record there is: after a restart nobody would know. So partitions that stand still are looked at.
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
    log.error(gap, 'records were gone before they were read')
  }

  async function lookAt(places: ReadonlyMap<Assigned, bigint>): Promise<void> {
    for (const [topic, ofTopic] of Map.groupBy(places, ([place]) => place.topic)) {
      const ends = await readEnds(topic)
      for (const [place, next] of ofTopic) {
        // The beginning alone: right after a change of leaders the end is told too low for a moment.
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
        log.warn({ group, reason: messageOf(error) }, 'it is not known whether records were deleted'),
      )
    },
  }
}
