import { traceContextOf, type Span, type TraceContext, type Tracing } from '../tracing/tracing.ts'
import type { Batch, BatchHandler, ConsumedRecord, GroupHandler, RecordHandler } from './records.ts'

/** An option of consumers. */
export interface Traced {
  tracing?: Tracing | undefined
}

interface BatchOptions<T> extends Traced {
  groupId: string
  handler: BatchHandler<T>
}

interface RecordOptions<T> extends Traced {
  groupId: string
  handler: RecordHandler<T>
  groupHandler?: GroupHandler<T>
}

/** The options with a handler whose batches have spans: of the only record, or linked to those of many. */
export function traceBatches<T, O>(options: O & BatchOptions<T>): O & BatchOptions<T> {
  const { handler, groupId, tracing } = options
  return tracing === undefined ? options : { ...options, handler: tracedBatches(handler, groupId, tracing) }
}

/** The options with handlers whose records have spans. */
export function traceRecords<T, O>(options: O & RecordOptions<T>): O & RecordOptions<T> {
  const { handler, groupHandler, groupId, tracing } = options
  if (tracing === undefined) return options
  return {
    ...options,
    handler: tracedRecords(handler, groupId, tracing),
    ...(groupHandler && { groupHandler: tracedGroups(groupHandler, groupId, tracing) }),
  }
}

function tracedBatches<T>(handler: BatchHandler<T>, groupId: string, tracing: Tracing): BatchHandler<T> {
  return async (batch, signal) => {
    const { topic, partition, nextOffset } = batch.position
    const span = startProcess(tracing, batch.records, {
      ...{ groupId, topic, partition },
      'messaging.batch.message_count': batch.records.length,
      'sluice.next_offset': String(nextOffset),
    })
    return during(span, () => handler({ ...batch, span }, signal))
  }
}

function tracedRecords<T>(handler: RecordHandler<T>, groupId: string, tracing: Tracing): RecordHandler<T> {
  return async (record, signal) => {
    const span = startRecord(tracing, groupId, record)
    return during(span, () => handler({ ...record, span }, signal))
  }
}

/** A record's span ends when it is over or handed back. */
function tracedGroups<T>(handler: GroupHandler<T>, groupId: string, tracing: Tracing): GroupHandler<T> {
  return async (records, handBack, over) => {
    const open = new Map(records.map((record, index) => [index, startRecord(tracing, groupId, record)]))
    const close = (index: number, error?: unknown) => {
      open.get(index)?.end(error)
      open.delete(index)
    }
    const traced = records.map((record, index) => withSpan(record, open.get(index)))
    try {
      await handler(
        traced,
        (index) => {
          close(index)
          handBack(index)
        },
        (index) => {
          close(index)
          over(index)
        },
      )
      for (const index of open.keys()) close(index)
    } catch (error) {
      for (const index of open.keys()) close(index, error)
      throw error
    }
  }
}

/** The context under which work for a record of a batch goes on, by the record's value. */
export function traceByValue<T>({ records, span }: Pick<Batch<T>, 'records' | 'span'>) {
  if (span === undefined) return () => undefined
  const traces = new Map(
    records.map(({ value, headers }) => [value, span.parentFor(traceContextOf(headers))]),
  )
  return (value: T): TraceContext | undefined => traces.get(value)
}

function withSpan<T>(record: ConsumedRecord<T>, span: Span | undefined): ConsumedRecord<T> {
  return span === undefined ? record : { ...record, span }
}

function startRecord<T>(tracing: Tracing, groupId: string, record: ConsumedRecord<T>): Span {
  const { topic, partition, offset } = record
  return startProcess(tracing, [record], {
    ...{ groupId, topic, partition },
    'messaging.kafka.offset': String(offset),
  })
}

function startProcess<T>(
  tracing: Tracing,
  records: readonly ConsumedRecord<T>[],
  {
    groupId,
    topic,
    partition,
    ...own
  }: { groupId: string; topic: string; partition: number; [name: string]: string | number },
): Span {
  const origins = records.map(({ headers }) => traceContextOf(headers))
  return tracing.start(`process ${topic}`, 'consumer', origins, {
    'messaging.system': 'kafka',
    'messaging.operation.type': 'process',
    'messaging.destination.name': topic,
    'messaging.destination.partition.id': String(partition),
    'messaging.consumer.group.name': groupId,
    ...own,
  })
}

async function during<R>(span: Span, work: () => Promise<R>): Promise<R> {
  try {
    const result = await work()
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}
