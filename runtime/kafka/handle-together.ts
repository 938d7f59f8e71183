import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { ok } from '../outcome.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'
import type { Waiting } from './partition-work.ts'
import { decodeRecordNow, type DecoderChoice, type RawRecord } from './raw-record.ts'
import type { ConsumedRecord, GroupHandler } from './records.ts'

/**
 * Handles records together. `alone` starts one that must run by itself; `over` reports each other one: its
 * offset may move.
 */
export type RunTogether<W> = (
  group: readonly W[],
  alone: (one: W) => void,
  over: (one: W) => void,
) => Promise<void>

/** The maximum of one statement (services/notifier/stores/delivery-store.ts). */
const maxTogether = 200

export function createGroupRunner<T, W extends Waiting<T>>(dependencies: {
  decoder: DecoderChoice<T>
  handler: GroupHandler<T>
  metrics: ConsumerMetrics
  log: Log
  clock: Clock
}): RunTogether<W> {
  const { decoder, handler, metrics, log, clock } = dependencies
  const decodedNow = (raw: RawRecord): ConsumedRecord<T> | undefined => {
    try {
      return decodeRecordNow(raw, decoder)
    } catch (error) {
      // The run alone reports it.
      log.debug({ err: error }, 'not decoded together')
      return undefined
    }
  }
  const runGroup: RunTogether<W> = async (group, alone, over) => {
    const readable: (W | undefined)[] = []
    const records: ConsumedRecord<T>[] = []
    for (const one of group) {
      const record = one.record ?? decodedNow(one.raw)
      if (record === undefined) alone(one)
      else {
        readable.push({ ...one, record })
        records.push(record)
      }
    }
    const startedMs = clock.now()
    /**
     * undefined: this record is already settled. A settled record is released while others of the group go
     * on.
     */
    const close = (index: number): W | undefined => {
      const one = readable[index]
      readable[index] = undefined
      return one
    }
    const handBack = (index: number) => {
      const one = close(index)
      if (one !== undefined) alone(one)
    }
    const end = (index: number) => {
      const one = close(index)
      if (one === undefined) return
      metrics.handlerSeconds(one.raw.topic, (clock.now() - startedMs) / 1_000)
      metrics.handled(one.raw.topic, ok())
      over(one)
    }
    try {
      if (records.length > 0) await handler(records, handBack, end)
      records.forEach((_record, index) => end(index))
    } catch (error) {
      // The failure repeats when the record runs alone, and is handled there.
      log.debug({ err: error }, 'not worked on together')
      records.forEach((_record, index) => handBack(index))
    }
  }
  return async (all, alone, over) => {
    const groups: Promise<void>[] = []
    for (let from = 0; from < all.length; from += maxTogether)
      groups.push(runGroup(all.slice(from, from + maxTogether), alone, over))
    await Promise.all(groups)
  }
}
