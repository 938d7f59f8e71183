import { sealedBytesAvro, type SealedBytes } from './sealed-bytes.ts'

export const selectableEvents = [
  'threat_detected',
  'usage_alert',
  'redteam_complete',
  'finding_opened',
  'finding_reopened',
  'finding_acknowledged',
  'finding_resolved',
  'alert_fired',
  'alert_recovered',
] as const
export const eventNames = [...selectableEvents, 'new_tool_detected', 'tool_definition_changed'] as const
export type EventName = (typeof eventNames)[number]

/**
 * Something to tell webhooks (specification 6.2). Written to `event_outbox` with the state that made it true.
 */
export interface RaisedEvent {
  /** `evt_…`, derived from what happened. */
  id: string
  event: EventName
  project_id: string
  /** Unix milliseconds. */
  created_at: number
  /** The `data` object as JSON text, without what `content` holds. */
  data: Buffer
  /** Sealed JSON object (EventContent) whose fields join `data` at delivery. Null: nothing joins. */
  content: SealedBytes | null
  /** The identity that `content` was sealed for, besides the project: a request's id. */
  content_id: string | null
  /** Only this webhook gets it (test events); null: all that select it. */
  webhook_id: string | null
}

export const eventRaisedAvro = {
  type: 'record',
  name: 'EventRaised',
  namespace: 'sluice',
  fields: [
    { name: 'id', type: 'string' },
    { name: 'event', type: 'string' },
    { name: 'project_id', type: 'string' },
    { name: 'created_at', type: 'long' },
    { name: 'data', type: 'bytes' },
    { name: 'content', type: ['null', sealedBytesAvro], default: null },
    { name: 'content_id', type: ['null', 'string'], default: null },
    { name: 'webhook_id', type: ['null', 'string'], default: null },
  ],
} as const
