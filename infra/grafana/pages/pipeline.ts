import type { Dashboard } from '../build-dashboard.ts'
import { inAnHour, largest, p99, perSecond, total } from '../queries.ts'

/** From Kafka into Postgres and out again. */
export const pipeline: Dashboard = {
  name: 'pipeline',
  title: 'pipeline',
  rows: [
    {
      title: 'Consumers',
      panels: [
        {
          title: 'Oldest record unfinished',
          help: 'What people wait for. Replays may wait.',
          unit: 's',
          ask: [largest('sluice_kafka_oldest_unfinished_age_seconds', 'group, topic')],
        },
        { title: 'Records that wait', ask: [total('sluice_kafka_lag_records', 'group, topic')] },
        {
          title: 'Records handled',
          unit: 'ops',
          ask: [perSecond('sluice_kafka_records_total', 'group, outcome')],
        },
        { title: 'Handler, p99', unit: 's', ask: [p99('sluice_kafka_handler_seconds', 'group')] },
        { title: 'Records being worked on', ask: [total('sluice_kafka_in_flight_records', 'group')] },
        { title: 'Tried again', unit: 'ops', ask: [perSecond('sluice_kafka_retries_total', 'group, code')] },
        {
          title: 'Dead letters in an hour',
          ask: [inAnHour('sluice_kafka_dead_letters_total', 'topic, code')],
        },
        {
          title: 'Dropped on purpose',
          unit: 'ops',
          ask: [perSecond('sluice_kafka_dropped_records_total', 'topic, reason')],
        },
      ],
    },
    {
      title: 'Producers',
      panels: [
        { title: 'Bytes sent', unit: 'Bps', ask: [perSecond('sluice_producer_bytes_total', 'topic')] },
        {
          title: 'Send to acknowledgement, p99',
          unit: 's',
          ask: [p99('sluice_producer_send_seconds', 'service')],
        },
        {
          title: 'Bytes that wait',
          unit: 'bytes',
          ask: [largest('sluice_producer_buffered_bytes', 'service')],
        },
        {
          title: 'Rejected, and sent again',
          unit: 'ops',
          ask: [
            perSecond('sluice_producer_failures_total', 'code'),
            perSecond('sluice_producer_resends_total', 'reason'),
          ],
        },
      ],
    },
    {
      title: 'What it stands on',
      panels: [
        { title: 'Answers the sinks', help: '1 or 0.', ask: [largest('sluice_dependency_up', 'dependency')] },
        {
          title: 'Partitions that are not as they should be',
          ask: [
            { expr: 'sum(sluice_cluster_under_replicated_partitions)', legend: 'out of sync' },
            { expr: 'sum(sluice_cluster_under_min_isr_partitions)', legend: 'take no writes' },
            { expr: 'sum(sluice_cluster_offline_partitions)', legend: 'without a leader' },
            { expr: 'max(sluice_cluster_missing_topics)', legend: 'topics missing' },
          ],
        },
        { title: 'Connections to Postgres', ask: [total('sluice_postgres_connections', 'service, state')] },
        {
          title: 'Statements of the API, p99',
          unit: 's',
          ask: [p99('sluice_api_statement_duration_seconds', 'route')],
        },
      ],
    },
    {
      title: 'Upkeep',
      panels: [
        { title: 'Events that wait for Kafka', ask: [largest('sluice_outbox_waiting_events', '', 'events')] },
        {
          title: 'The oldest of them',
          unit: 's',
          ask: [largest('sluice_outbox_oldest_age_seconds', '', 'age')],
        },
        {
          title: 'Days with partitions ahead',
          kind: 'stat',
          ask: [{ expr: '(min(sluice_partitions_end_timestamp_seconds) - time()) / 86400', legend: 'days' }],
        },
        {
          title: 'Since each task last succeeded',
          unit: 's',
          ask: [
            {
              expr: 'time() - max by (task) (sluice_sink_task_last_success_timestamp_seconds)',
              legend: '{{task}}',
            },
          ],
        },
        { title: 'Open erasures', ask: [largest('sluice_erasures_open', '', 'open')] },
        { title: 'Swept', unit: 'ops', ask: [perSecond('sluice_sink_swept_total', 'what')] },
        {
          title: 'Quota claims given back in an hour',
          ask: [inAnHour('sluice_quota_claims_returned_total', '', 'claims')],
        },
        {
          title: 'Series beyond the bound of roll-ups',
          ask: [inAnHour('sluice_sink_rollup_overflow_total', 'of')],
        },
      ],
    },
  ],
}
