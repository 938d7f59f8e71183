import type { TraceContext } from '#runtime/tracing/tracing.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'

/**
 * The traces of the events under way. By the event itself, which its deliveries hold: they pass through
 * batches of many events. A delivery read from `webhook_waiting` begins a trace of its own.
 */
export type EventTraces = WeakMap<RaisedEvent, TraceContext>
