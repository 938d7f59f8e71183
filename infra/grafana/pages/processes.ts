import type { Dashboard } from '../build-dashboard.ts'

/** Resources that each process uses. */
export const processes: Dashboard = {
  name: 'processes',
  title: 'processes',
  rows: [
    {
      title: 'Processes',
      panels: [
        {
          title: 'Up',
          help: '1 or 0.',
          ask: [{ expr: 'up{job="sluice"}', legend: '{{service}} {{instance}}' }],
        },
        {
          title: 'CPU cores used',
          ask: [
            {
              expr: 'rate(process_cpu_seconds_total{job="sluice"}[$__rate_interval])',
              legend: '{{service}} {{instance}}',
            },
          ],
        },
        {
          title: 'Resident memory',
          unit: 'bytes',
          ask: [{ expr: 'process_resident_memory_bytes{job="sluice"}', legend: '{{service}} {{instance}}' }],
        },
        {
          title: 'Event loop lag, p99',
          unit: 's',
          ask: [
            { expr: 'nodejs_eventloop_lag_p99_seconds{job="sluice"}', legend: '{{service}} {{instance}}' },
          ],
        },
      ],
    },
  ],
}
