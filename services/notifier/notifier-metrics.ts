import type { Metrics } from '#runtime/metrics.ts'
import type { Selection } from './steps/select-webhooks.ts'

export type NotifierMetrics = ReturnType<typeof createNotifierMetrics>

export function createNotifierMetrics(metrics: Metrics) {
  const selections = metrics.counter(
    'sluice_notifier_selections_total',
    'Events held against webhooks, by what was decided',
    ['selection'],
  )
  // From 0: alerts watch the rate, which a series that begins at 1 does not have.
  const initial: readonly Selection[] = ['selected', 'other_event', 'filtered', 'expression_failed']
  for (const selection of initial) selections.inc({ selection }, 0)
  const attempts = metrics.counter('sluice_notifier_attempts_total', 'Delivery attempts by result', [
    'result',
  ])
  for (const result of ['delivered', 'refused', 'timed_out', 'no_answer']) attempts.inc({ result }, 0)
  return {
    selections,
    attempts,
    attemptSeconds: metrics.histogram(
      'sluice_notifier_attempt_seconds',
      'Time of an attempt until the status line',
      [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ),
    eventToReceipt: metrics.histogram(
      'sluice_notifier_event_to_receipt_seconds',
      'Time from an event to its delivery at the first attempt',
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    ),
    inFlight: metrics.gauge('sluice_notifier_in_flight_attempts', 'Attempts being made'),
    knownEndpoints: metrics.gauge(
      'sluice_notifier_known_endpoints',
      'Endpoints of which is known whether they are slow',
    ),
    unwritten: metrics.gauge(
      'sluice_notifier_unwritten_attempts',
      'Attempts that were sent and are not written yet',
    ),
    forgotten: metrics.counter(
      'sluice_notifier_unwritten_forgotten_total',
      'Attempts that were sent and forgotten unwritten, too many or after an hour: they are sent again unless another notifier has',
    ),
    waiting: metrics.counter(
      'sluice_notifier_set_aside_total',
      'Attempts that were set aside in the database, by reason',
      ['reason'],
    ),
    failedRounds: metrics.counter(
      'sluice_notifier_waiting_rounds_failed_total',
      'Looks at what waits in the database that failed: until one succeeds none of it is attempted',
    ),
    dead: metrics.counter('sluice_notifier_dead_deliveries_total', 'Deliveries whose last attempt failed'),
    ...createAuditMetrics(metrics),
    disabled: metrics.counter(
      'sluice_notifier_disabled_total',
      'Webhooks disabled because nothing reached them for as long as their owners set',
    ),
  }
}

function createAuditMetrics(metrics: Metrics) {
  return {
    auditLag: metrics.gauge(
      'sluice_notifier_audit_lag_seconds',
      'Age of the oldest entry of the audit log that AUDIT_STREAM has not taken; 0 without one',
    ),
    auditStreamed: metrics.counter(
      'sluice_notifier_audit_entries_total',
      'Entries of the audit log that AUDIT_STREAM has taken',
    ),
  }
}
