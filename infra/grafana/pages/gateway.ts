import type { Dashboard } from '../build-dashboard.ts'
import { inAnHour, largest, perSecond, quantiles, total } from '../queries.ts'

/** The request path, and what was recorded. */
export const gateway: Dashboard = {
  name: 'gateway',
  title: 'gateway',
  rows: [
    {
      title: 'Calls',
      panels: [
        {
          title: 'Calls by status',
          unit: 'ops',
          ask: [perSecond('sluice_gateway_requests_total', 'status')],
        },
        {
          title: 'Under way, and waiting for a connection',
          ask: [
            total('sluice_gateway_in_flight_calls', '', 'under way'),
            total('sluice_gateway_waiting_calls', '', 'waiting'),
          ],
        },
        { title: 'Until the answer begins', unit: 's', ask: quantiles('sluice_gateway_first_byte_seconds') },
        {
          title: 'What the gateway itself takes',
          help: 'Time of a call that is not spent waiting for the provider.',
          unit: 's',
          ask: quantiles('sluice_gateway_added_seconds'),
        },
        {
          title: 'Bytes',
          unit: 'Bps',
          ask: [
            perSecond('sluice_gateway_request_bytes_total', '', 'requests'),
            perSecond('sluice_gateway_answer_bytes_total', '', 'answers'),
          ],
        },
        { title: 'Refused', unit: 'ops', ask: [perSecond('sluice_gateway_refused_total', 'reason')] },
        {
          title: 'Broken off',
          unit: 'ops',
          ask: [
            perSecond('sluice_gateway_aborted_total', 'by'),
            perSecond('sluice_gateway_stalled_total', '', 'not read'),
          ],
        },
        {
          title: 'Workers',
          ask: [{ expr: 'sum by (instance) (sluice_gateway_workers)', legend: '{{instance}}' }],
        },
      ],
    },
    {
      title: 'Recording',
      panels: [
        { title: 'Recorded', unit: 'ops', ask: [perSecond('sluice_gateway_recorded_total', '', 'recorded')] },
        { title: 'Sent', unit: 'ops', ask: [perSecond('sluice_gateway_records_delivered_total', 'verdict')] },
        {
          title: 'Spool',
          unit: 'bytes',
          ask: [
            largest('sluice_gateway_spool_bytes', 'instance'),
            largest('sluice_gateway_spool_limit_bytes', '', 'limit'),
          ],
        },
        {
          title: 'Oldest record in the spool',
          unit: 's',
          ask: [largest('sluice_gateway_spool_oldest_age_seconds', 'instance')],
        },
        { title: 'Lost in an hour', ask: [inAnHour('sluice_gateway_records_lost_total', 'reason')] },
        {
          title: 'Recorded cut',
          unit: 'ops',
          ask: [perSecond('sluice_gateway_captures_cut_total', 'reason')],
        },
        {
          title: 'Trouble',
          unit: 'ops',
          ask: [
            perSecond('sluice_gateway_slow_disk_total', '', 'slow disk'),
            perSecond('sluice_gateway_delivery_failures_total', '', 'API undecided'),
            perSecond('sluice_gateway_heartbeat_failures_total', '', 'heartbeats'),
            perSecond('sluice_gateway_malformed_headers_total', '', 'malformed headers'),
          ],
        },
        {
          title: 'What ingest answered',
          unit: 'ops',
          ask: [perSecond('sluice_ingest_records_total', 'outcome')],
        },
      ],
    },
  ],
}
