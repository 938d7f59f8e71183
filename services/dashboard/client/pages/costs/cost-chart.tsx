import { Group, Paper, Skeleton, Title } from '@mantine/core'
import { Suspense, type ReactNode } from 'react'
import { lazyPart } from '../../parts/lazy-part.ts'
import { metrics, nameOfGroup, stepsOf, type Costs, type Metric } from './read-costs.ts'

// The charting library loads in parallel with the numbers.
const loading = import('../../parts/group-chart.tsx')
const GroupChart = lazyPart(async () => (await loading).GroupChart)

interface CostChartProps {
  costs: Costs
  metric: Metric
  /** What the groups are, in words. */
  by: string
  projectName: (id: string) => string
  /** Beside the title. */
  children?: ReactNode
}

/** A metric of each group over time. */
export function CostChart({ costs, metric, by, projectName, children }: CostChartProps) {
  const title = `${metrics[metric].label}${metric === 'latency' ? ' (p95)' : ''} by ${by}`
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title}</Title>
        {children}
      </Group>
      <Suspense fallback={<Skeleton height={260} />}>
        <GroupChart
          title={title}
          groups={costs.series.map((each) => nameOfGroup(each, costs.by, projectName))}
          rows={stepsOf(costs, metric)}
          stepHours={costs.step_hours}
          format={metrics[metric].format}
          isStacked={metric !== 'latency'}
        />
      </Suspense>
    </Paper>
  )
}
