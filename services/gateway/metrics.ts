import type { Counter } from 'prom-client'
import type { Metrics } from '#runtime/metrics.ts'
import type { Verdict } from './delivery/post-records.ts'
import { markOutcomes, type MarkOutcome } from './recording/attack-marks.ts'
import type { CutReason } from './recording/captured-body.ts'
import { leftOutReasons, type LeftOutReason } from './recording/left-out.ts'
import { lossReasons, type LossReason } from './spool/spool-options.ts'
import { createSpoolMetrics, type SpoolMetrics } from './spool/spool-metrics.ts'
import { createSocketMetrics, type SocketMetrics } from './websockets/socket-metrics.ts'
import { refusalReasons, type RefusalReason } from './traffic/gateway-answer.ts'

/** Every metric of the gateway. Labels come from fixed sets, never from a caller's path, model or headers. */
export interface GatewayMetrics extends SocketMetrics, SpoolMetrics {
  began(): void
  /** `status` is what the application received; null if it had disconnected. */
  ended(status: number | null): void
  /** Seconds of the call not spent waiting for the provider. */
  added(seconds: number): void
  firstByte(seconds: number): void
  requestBytes(count: number): void
  answerBytes(count: number): void
  /** A call begins (1) or ceases (-1) to wait for a connection to a provider. */
  waiting(change: 1 | -1): void
  /** Whether calls to an upstream with a breaker are refused. */
  upstreamOpen(upstream: string, isOpen: boolean): void
  /** Whether UPSTREAMS_FILE as it is now cannot be used. */
  upstreamsInvalid(isInvalid: boolean): void
  refused(reason: RefusalReason): void
  aborted(by: 'client' | 'upstream'): void
  /** An answer was aborted because the application did not read it. */
  stalled(): void
  malformedHeaders(count: number): void
  /** The call carries the mark of a red team, which records it itself. */
  attackMark(outcome: MarkOutcome): void
  recorded(): void
  cut(reason: CutReason): void
  /** A stream was recorded unparsed because reading it failed. */
  unread(): void
  /** A record was masked before it left, or left without bodies that could not be masked. */
  masked(outcome: 'masked' | 'dropped'): void
  lost(reason: LossReason, count: number): void
  /** Losses so far, by reason. */
  losses(): Promise<Record<string, number>>
  /** A call was forwarded and is not recorded. */
  leftOut(reason: LeftOutReason): void
  heartbeatFailed(): void
  /** An answer ended before its record was on disk. */
  slowDisk(): void
  delivered(verdict: Verdict['kind']): void
  deliveryFailed(): void
}

const addedBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1]
const firstByteBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx', 'none']

export function createGatewayMetrics(metrics: Metrics): GatewayMetrics {
  const name = (rest: string) => `sluice_gateway_${rest}`
  const ended = 'Calls that ended, by status class.'
  const requests = counterFromZero(metrics, name('requests_total'), ended, 'status', statusClasses)
  const inFlight = metrics.gauge(name('in_flight_calls'), 'Calls being forwarded.')
  const added = metrics.histogram(
    name('added_seconds'),
    'Time of a call not spent waiting for the provider.',
    addedBuckets,
  )
  const firstByte = metrics.histogram(
    name('first_byte_seconds'),
    'Time until the answer began.',
    firstByteBuckets,
  )
  const whyRefused = 'Requests that the gateway refused.'
  const refused = counterFromZero(metrics, name('refused_total'), whyRefused, 'reason', refusalReasons)
  const aborted = metrics.counter(name('aborted_total'), 'Answers that were aborted.', ['by'])
  const malformed = metrics.counter(
    name('malformed_headers_total'),
    'X-Service-* headers that could not be used.',
  )
  const recorded = metrics.counter(name('recorded_total'), 'Calls written to the spool.')
  const slow = metrics.counter(name('slow_disk_total'), 'Answers that ended before their record was on disk.')
  const delivered = metrics.counter(name('records_delivered_total'), 'Records by verdict.', ['verdict'])
  const failed = metrics.counter(
    name('delivery_failures_total'),
    'Posts that the API service did not decide.',
  )
  const heartbeats = metrics.counter(
    name('heartbeat_failures_total'),
    'Heartbeats that the API service did not accept.',
  )
  return {
    began: () => inFlight.inc(),
    ended(status) {
      inFlight.dec()
      requests.inc({ status: status === null ? 'none' : `${Math.floor(status / 100)}xx` })
    },
    added: (seconds) => added.observe(seconds),
    firstByte: (seconds) => firstByte.observe(seconds),
    ...trafficGauges(metrics),
    ...upstreamGauges(metrics),
    ...createSocketMetrics(metrics),
    refused: (reason) => refused.inc({ reason }),
    aborted: (by) => aborted.inc({ by }),
    ...stallCounter(metrics),
    ...markCounter(metrics),
    malformedHeaders: (count) => malformed.inc(count),
    recorded: () => recorded.inc(),
    ...bodyCounters(metrics),
    ...lossCounter(metrics),
    ...leftOutCounter(metrics),
    heartbeatFailed: () => heartbeats.inc(),
    slowDisk: () => slow.inc(),
    delivered: (verdict) => delivered.inc({ verdict }),
    deliveryFailed: () => failed.inc(),
    ...createSpoolMetrics(metrics),
  }
}

/** Starts at 0: alerts use increases, which a series that begins at 1 would miss. */
function counterFromZero<L extends string>(
  metrics: Metrics,
  name: string,
  help: string,
  label: L,
  values: readonly string[],
): Counter<L> {
  const counter = metrics.counter(name, help, [label])
  for (const value of values) counter.inc({ [label]: value } as Record<L, string>, 0)
  return counter
}

function trafficGauges(metrics: Metrics): Pick<GatewayMetrics, 'requestBytes' | 'answerBytes' | 'waiting'> {
  const sent = metrics.counter('sluice_gateway_request_bytes_total', 'Bytes of request bodies taken.')
  const received = metrics.counter('sluice_gateway_answer_bytes_total', 'Bytes of answers passed on.')
  const waiting = metrics.gauge(
    'sluice_gateway_waiting_calls',
    'Calls that wait for a connection to the provider.',
  )
  return {
    requestBytes: (count) => sent.inc(count),
    answerBytes: (count) => received.inc(count),
    waiting: (change) => waiting.inc(change),
  }
}

function upstreamGauges(metrics: Metrics): Pick<GatewayMetrics, 'upstreamOpen' | 'upstreamsInvalid'> {
  const open = metrics.gauge(
    'sluice_gateway_upstream_open',
    'Whether calls to an upstream are refused (1) because it gives no answers. Upstreams with a breaker only.',
    ['upstream'],
    'max',
  )
  const invalid = metrics.gauge(
    'sluice_gateway_upstreams_invalid',
    'Whether UPSTREAMS_FILE has changed to something that cannot be used (1): the last valid upstreams serve.',
    [],
    'max',
  )
  return {
    upstreamOpen: (upstream, isOpen) => open.set({ upstream }, Number(isOpen)),
    upstreamsInvalid: (isInvalid) => invalid.set(Number(isInvalid)),
  }
}

function stallCounter(metrics: Metrics): Pick<GatewayMetrics, 'stalled'> {
  const stalled = metrics.counter(
    'sluice_gateway_stalled_total',
    'Answers aborted because the application did not read them.',
  )
  return { stalled: () => stalled.inc() }
}

function markCounter(metrics: Metrics): Pick<GatewayMetrics, 'attackMark'> {
  const marks = counterFromZero(
    metrics,
    'sluice_gateway_redteam_marks_total',
    'Calls with a red team mark; those with a genuine mark are not recorded here.',
    'outcome',
    markOutcomes,
  )
  return { attackMark: (outcome) => marks.inc({ outcome }) }
}

function lossCounter(metrics: Metrics): Pick<GatewayMetrics, 'lost' | 'losses'> {
  const lost = counterFromZero(
    metrics,
    'sluice_gateway_records_lost_total',
    'Recorded calls that are lost.',
    'reason',
    lossReasons,
  )
  return {
    lost: (reason, count) => lost.inc({ reason }, count),
    async losses() {
      const { values } = await lost.get()
      const some = values.filter(({ value }) => value > 0)
      return Object.fromEntries(some.map(({ labels, value }) => [String(labels.reason), value]))
    },
  }
}

function leftOutCounter(metrics: Metrics): Pick<GatewayMetrics, 'leftOut'> {
  const leftOut = counterFromZero(
    metrics,
    'sluice_gateway_left_out_total',
    'Calls that were forwarded and not recorded, as their key has it. Heartbeats count them by project.',
    'reason',
    leftOutReasons,
  )
  return { leftOut: (reason) => leftOut.inc({ reason }) }
}

function bodyCounters(metrics: Metrics): Pick<GatewayMetrics, 'cut' | 'unread' | 'masked'> {
  const cut = metrics.counter('sluice_gateway_captures_cut_total', 'Bodies that were recorded truncated.', [
    'reason',
  ])
  const unread = metrics.counter(
    'sluice_gateway_unread_streams_total',
    'Streams recorded unparsed because reading them failed.',
  )
  unread.inc(0)
  const masked = metrics.counter(
    'sluice_gateway_masked_records_total',
    'Records of projects that mask, or whose setting was not known: `masked`, or `dropped`: the bodies could not be masked, or there is no SPOOL_KEY.',
    ['outcome'],
  )
  return {
    cut: (reason) => cut.inc({ reason }),
    unread: () => unread.inc(),
    masked: (outcome) => masked.inc({ outcome }),
  }
}
