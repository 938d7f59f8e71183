import { hostname } from 'node:os'
import { PermanentError } from '#runtime/errors.ts'
import { refuseDestination, type AllowedAddresses } from '#runtime/destination-allow.ts'
import type { OutboundPolicy } from '#runtime/outbound-address.ts'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Sealer } from '#runtime/sealing.ts'
import {
  credentialsSchemaOf,
  settingsSchemaOf,
  type Address,
  type Destination,
} from '#schemas/destinations.ts'
import type { JoinedData } from '#schemas/join-event.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { failed, type AttemptResult } from '../sending/send-attempt.ts'
import type { Webhook } from '../stores/webhook-rows.ts'
import { arrayBatch, bulkBatch, bulkLines, splunkBatch, type BatchFormat } from './batch-formats.ts'
import { createSendInBatch } from './send-batches.ts'
import { hideCredentials } from './hide-credentials.ts'
import { noticeOf, type Notice } from './notice.ts'
import { renderEmail } from './render-email.ts'
import { renderJson, renderOcsf, renderSplunk } from './render-json.ts'
import { renderPagerDuty } from './render-pagerduty.ts'
import { renderSlack } from './render-slack.ts'
import { renderSyslog } from './render-syslog.ts'
import { renderTeams } from './render-teams.ts'
import type { Rendered } from './rendered.ts'
import type { HttpAnswer, HttpSender } from './send-http.ts'
import { sendToJira } from './send-to-jira.ts'
import type { SendMail } from './send-mail.ts'
import type { SendSyslog } from './send-syslog.ts'

export interface DestinationResult extends AttemptResult {
  /** What the receiver asked for. */
  retryAfterMs?: number | null
}

/** Sends an event to a destination in its format. Never rejects: a failure is a result. */
export type SendToDestination = (
  delivery: WebhookDelivery,
  webhook: Webhook,
  data: JoinedData,
) => Promise<DestinationResult>

export interface DestinationTools {
  http: HttpSender
  sendMail: SendMail
  sendSyslog: SendSyslog
  sealer: Sealer
  policy: OutboundPolicy
  allowed: AllowedAddresses
  version: string
  clock: Pick<Clock, 'now'>
  log: Log
}

export function createSendToDestination(tools: DestinationTools): SendToDestination {
  const inBatch = createSendInBatch((rendered) => tools.http.post(rendered), tools.clock)
  return async ({ event, attempt }, webhook, data) => {
    const startedMs = performance.now()
    try {
      const destination = openDestination(webhook, tools.sealer)
      const { settings, credentials } = destination
      const address = { ...settings, ...credentials } as Partial<Address>
      const refusal = refuseDestination(address, tools.policy, tools.allowed)
      if (refusal !== undefined) return failed(`the address ${refusal}`, 0)
      const notice = noticeOf(event, data, webhook.includeText)
      const batch = batchOf(destination)
      const post = (rendered: Rendered) => {
        if (batch === undefined) return tools.http.post(rendered)
        const body = batch === bulkBatch ? bulkLines(notice.id, rendered.body) : rendered.body
        // One bad event refuses a whole array: each is retried alone.
        const alone = batch === arrayBatch && attempt > 1 ? notice.id : ''
        const key = JSON.stringify([webhook.id, rendered.url, rendered.headers, alone])
        return inBatch(key, batch, { ...rendered, body })
      }
      const answer = await send(destination, notice, post, tools)
      const durationMs = Math.round((performance.now() - startedMs) * 1_000) / 1_000
      return typeof answer === 'string' || answer === null
        ? { statusCode: null, durationMs, error: answer, excerpt: null, timedOut: false }
        : resultOf(answer, durationMs, destination)
    } catch (error) {
      if (error instanceof PermanentError) return failed(`cannot be sent: ${error.message}`, 0)
      // A defect of ours: it costs this attempt, and no other delivery of the process.
      tools.log.error({ err: error, webhook_id: webhook.id }, 'cannot send to a destination')
      return failed('cannot be sent: the notifier failed on it', 0)
    }
  }
}

/** Throws PermanentError: the key is missing, or what is stored is not what the kind needs. */
function openDestination(webhook: Webhook, sealer: Sealer): Destination {
  const { kind, settings, credentials, projectId, id } = webhook
  const identity = sealedIdentity(projectId, id, 'destination_credentials')
  const opened = credentials === null ? '{}' : sealer.open(credentials, identity).toString('utf8')
  const read = {
    kind,
    settings: settingsSchemaOf(kind).safeParse(settings),
    credentials: credentialsSchemaOf(kind).safeParse(JSON.parse(opened)),
  }
  if (!read.settings.success || !read.credentials.success)
    throw new PermanentError('DESTINATION_INVALID', 'its settings or credentials are not those of its kind')
  return { kind, settings: read.settings.data, credentials: read.credentials.data } as Destination
}

/** How a destination takes several events at once; undefined: each is a request of its own. */
function batchOf({ kind, settings }: Destination): BatchFormat | undefined {
  if (kind === 'splunk_hec') return splunkBatch
  if (kind !== 'json' && kind !== 'ocsf') return undefined
  if (settings.batch === 'bulk') return bulkBatch
  return settings.batch === 'array' ? arrayBatch : undefined
}

/** The answer of an HTTP receiver; of others null, or why it failed. */
function send(
  destination: Destination,
  notice: Notice,
  post: (rendered: Rendered) => Promise<HttpAnswer>,
  tools: DestinationTools,
): Promise<HttpAnswer | string | null> {
  const { kind, settings, credentials } = destination
  switch (kind) {
    case 'slack':
      return post(renderSlack(notice, credentials))
    case 'teams':
      return post(renderTeams(notice, credentials))
    case 'pagerduty':
      return post(renderPagerDuty(notice, settings, credentials))
    case 'splunk_hec':
      return post(renderSplunk(notice, settings, credentials))
    case 'json':
      return post(renderJson(notice, settings, credentials))
    case 'ocsf':
      return post(renderOcsf(notice, settings, credentials, tools))
    case 'jira':
      return sendToJira(notice, settings, credentials, post)
    case 'email':
      return tools.sendMail(renderEmail(notice, settings), settings, credentials)
    case 'syslog':
      return tools.sendSyslog(
        [renderSyslog(notice, settings, { host: hostname(), version: tools.version })],
        settings,
      )
  }
}

const excerptBytes = 2_048

function resultOf(
  { status, error, timedOut, body, retryAfterMs }: HttpAnswer,
  durationMs: number,
  destination: Destination,
): DestinationResult {
  if (status === null) return { ...failed(error ?? 'no answer', durationMs), timedOut }
  const refused =
    status >= 200 && status < 300 ? refusedInBody(destination.kind, body) : `the receiver answered ${status}`
  return {
    statusCode: status,
    durationMs,
    error: refused,
    excerpt: hideCredentials(body, destination).subarray(0, excerptBytes),
    timedOut,
    retryAfterMs,
  }
}

/** `code` of an answer of Splunk's collector that took the events: success, or that its queues fill up. */
const takenCodes: ReadonlySet<string> = new Set(['0', '24', '25'])

/** Splunk's collector says in its answer whether it took the event. */
function refusedInBody(kind: Destination['kind'], body: Buffer): string | null {
  if (kind !== 'splunk_hec') return null
  const code = /"code"\s*:\s*(\d+)/.exec(body.toString('utf8'))?.[1]
  return code === undefined || takenCodes.has(code) ? null : `the collector answered code ${code}`
}
