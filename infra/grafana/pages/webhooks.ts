import type { Dashboard } from '../build-dashboard.ts'
import { inAnHour, largest, perSecond, quantiles, share, total } from '../queries.ts'

/** From an event to its receiver. */
export const webhooks: Dashboard = {
  name: 'webhooks',
  title: 'webhooks',
  rows: [
    {
      title: 'Events',
      panels: [
        { title: 'Published', unit: 'ops', ask: [perSecond('sluice_outbox_published_total', 'event')] },
        {
          title: 'Held against webhooks',
          help: 'expression_failed: a filter that fails; the webhook shows it.',
          unit: 'ops',
          ask: [perSecond('sluice_notifier_selections_total', 'selection')],
        },
        {
          title: 'From an event to its receiver',
          help: 'At the first attempt.',
          unit: 's',
          ask: quantiles('sluice_notifier_event_to_receipt_seconds'),
        },
        {
          title: 'Oldest record unfinished',
          unit: 's',
          ask: [largest('sluice_kafka_oldest_unfinished_age_seconds{service="notifier"}', 'group')],
        },
      ],
    },
    {
      title: 'Attempts',
      panels: [
        { title: 'By result', unit: 'ops', ask: [perSecond('sluice_notifier_attempts_total', 'result')] },
        {
          title: 'Delivered',
          unit: 'percentunit',
          ask: [
            share(
              'sluice_notifier_attempts_total{result="delivered"}',
              'sluice_notifier_attempts_total',
              'delivered',
            ),
          ],
        },
        { title: 'Until the status line', unit: 's', ask: quantiles('sluice_notifier_attempt_seconds') },
        {
          title: 'Being made, and not written yet',
          ask: [
            total('sluice_notifier_in_flight_attempts', '', 'being made'),
            total('sluice_notifier_unwritten_attempts', '', 'not written'),
          ],
        },
        { title: 'Set aside', unit: 'ops', ask: [perSecond('sluice_notifier_set_aside_total', 'reason')] },
        {
          title: 'Given up in an hour',
          ask: [inAnHour('sluice_notifier_dead_deliveries_total', '', 'deliveries')],
        },
        {
          title: 'Webhooks disabled in an hour',
          ask: [inAnHour('sluice_notifier_disabled_total', '', 'webhooks')],
        },
        { title: 'Endpoints known', ask: [largest('sluice_notifier_known_endpoints', '', 'endpoints')] },
      ],
    },
  ],
}
