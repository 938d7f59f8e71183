import type { Dashboard } from '../build-dashboard.ts'
import { inAnHour, largest, perSecond, share } from '../queries.ts'

/** Whether anything is wrong, and the throughput. */
export const overview: Dashboard = {
  name: 'overview',
  title: 'overview',
  rows: [
    {
      title: 'Is anything wrong?',
      panels: [
        {
          title: 'Alerts that fire',
          kind: 'table',
          ask: [
            {
              expr: 'count by (alertname, severity) (ALERTS{alertname=~"Sluice.+",alertstate="firing"}) or on () vector(0)',
              legend: '{{alertname}} {{severity}}',
            },
          ],
        },
        {
          title: 'Lost in the last hour',
          help: 'Recorded calls that are lost, and records that were gone before they were read. Anything above 0 is a runbook.',
          kind: 'stat',
          ask: [
            inAnHour('sluice_gateway_records_lost_total', '', 'calls'),
            inAnHour('sluice_kafka_skipped_records_total', '', 'skipped'),
          ],
        },
        {
          title: 'Dead letters in the last hour',
          kind: 'stat',
          ask: [inAnHour('sluice_kafka_records_total{outcome="dead_letter"}', 'topic')],
        },
        {
          title: 'Processes that answer',
          kind: 'stat',
          ask: [{ expr: 'count by (service) (up{job="sluice"} == 1)', legend: '{{service}}' }],
        },
      ],
    },
    {
      title: 'What goes through',
      panels: [
        {
          title: 'Calls forwarded',
          unit: 'ops',
          ask: [perSecond('sluice_gateway_requests_total', 'status')],
        },
        { title: 'Calls stored', unit: 'ops', ask: [perSecond('sluice_sink_calls_total', 'fate')] },
        { title: 'Scores', unit: 'ops', ask: [perSecond('sluice_scores_total', 'label')] },
        { title: 'Deliveries', unit: 'ops', ask: [perSecond('sluice_notifier_attempts_total', 'result')] },
      ],
    },
    {
      title: 'How it goes',
      panels: [
        {
          title: 'Oldest record unfinished',
          unit: 's',
          ask: [largest('sluice_kafka_oldest_unfinished_age_seconds', 'group')],
        },
        {
          title: 'Scores that are unsafe',
          unit: 'percentunit',
          ask: [share('sluice_scores_total{label="unsafe"}', 'sluice_scores_total', 'unsafe')],
        },
        {
          title: 'Answers of the API',
          unit: 'ops',
          ask: [perSecond('sluice_http_request_duration_seconds_count', 'status')],
        },
        {
          title: 'What the judge costs an hour',
          unit: 'currencyUSD',
          ask: [inAnHour('sluice_judge_usd_total', '', 'USD')],
        },
      ],
    },
  ],
}
