import { SimpleGrid, Skeleton } from '@mantine/core'
import { Suspense } from 'react'
import { severityColors } from '../../app/theme.ts'
import { countTokens } from '../../formats/count-tokens.ts'
import { formatDuration, formatShort, formatShortUsd } from '../../formats/format-number.ts'
import { lazyPart } from '../../parts/lazy-part.ts'
import type { TimeChartProps } from './time-chart.tsx'
import { callSeriesOf, fillSteps, rangeOfPoint, type CallPoint, type Stats } from './read-stats.ts'

// The charting library is as large as half of the rest.
const TimeChart = lazyPart(async () => (await import('./time-chart.tsx')).TimeChart)

type Charted = Pick<TimeChartProps, 'title' | 'series' | 'format' | 'isStacked' | 'hasFractions'> & {
  toRequests: Record<string, string>
}

const charts: readonly Charted[] = [
  {
    title: 'Unsafe calls',
    series: [
      { name: 'critical', label: 'Critical', color: severityColors.critical },
      { name: 'high', label: 'High', color: severityColors.high },
      { name: 'medium', label: 'Medium', color: severityColors.medium },
    ],
    format: formatShort,
    isStacked: true,
    toRequests: { label: 'unsafe' },
  },
  {
    title: 'Failed calls',
    series: [
      { name: 'failed', label: 'Failed', color: 'red.6' },
      { name: 'aborted', label: 'Aborted', color: 'gray.5' },
    ],
    format: formatShort,
    isStacked: true,
    toRequests: { status: 'failed' },
  },
  {
    title: 'Calls',
    series: [{ name: 'calls', label: 'Calls', color: 'cyan.6' }],
    format: formatShort,
    isStacked: true,
    toRequests: {},
  },
  {
    title: 'Latency',
    series: [
      { name: 'latency_p95_ms', label: 'p95', color: 'grape.6' },
      { name: 'latency_p50_ms', label: 'Median', color: 'teal.6' },
    ],
    format: formatDuration,
    toRequests: {},
  },
  {
    title: 'Cost',
    series: [{ name: 'cost_usd', label: 'Cost', color: 'teal.6' }],
    format: formatShortUsd,
    hasFractions: true,
    isStacked: true,
    toRequests: {},
  },
  {
    title: 'Tokens',
    series: [
      { name: 'tokens_read', label: 'In', color: 'indigo.5' },
      { name: 'tokens_written', label: 'Out', color: 'cyan.5' },
    ],
    format: formatShort,
    isStacked: true,
    toRequests: {},
  },
]

/** The range over time; a point links to its requests. */
export function CallCharts({ stats }: { stats: Stats }) {
  const steps = fillSteps(callSeriesOf(stats)[0]?.points ?? [], stats)
  return (
    <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} spacing="lg">
      {charts.map((chart) => (
        <Suspense key={chart.title} fallback={<Skeleton height={250} />}>
          <TimeChart
            {...chart}
            stepHours={stats.step_hours}
            rows={steps.map(({ at, point }) => ({
              at,
              range: rangeOfPoint(at, stats),
              values: chart.series.map(({ name }) => valueOf(point, name)),
            }))}
          />
        </Suspense>
      ))}
    </SimpleGrid>
  )
}

/** A count of a step without calls is 0; its latency is undefined. */
function valueOf(point: CallPoint | undefined, name: string): number | null {
  if (point === undefined) return name.startsWith('latency') ? null : 0
  const { read: tokens_read, written: tokens_written } = countTokens(point)
  const values = { ...point, tokens_read, tokens_written }
  return values[name as keyof Omit<typeof values, 'at'>]
}
