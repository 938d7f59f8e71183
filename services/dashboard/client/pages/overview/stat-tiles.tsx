import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatDuration, formatShare, formatShort, formatUsd } from '../../formats/format-number.ts'
import { callSeriesOf, type Stats } from './read-stats.ts'

/** One number, what it is of, and what it is made of. */
export function StatTile({ label, value, detail }: { label: string; value: string; detail: ReactNode }) {
  return (
    <Paper withBorder p="sm" role="group" aria-label={label}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fz={26} fw={600} lh={1.3}>
        {value}
      </Text>
      <Text size="xs" c="dimmed">
        {detail}
      </Text>
    </Paper>
  )
}

/** The totals of the range. */
export function CallTiles({ stats }: { stats: Stats }) {
  const total = callSeriesOf(stats)[0]?.total
  if (total === undefined) return null
  const judged = total.safe + total.unsafe + total.unscored
  return (
    <>
      <StatTile
        label="Calls"
        value={formatShort(total.calls)}
        detail={`${formatShare(total.failed, total.calls)} failed`}
      />
      <StatTile
        label="Unsafe"
        value={formatShare(total.unsafe, judged)}
        detail={`${formatShort(total.unsafe)} of ${formatShort(judged)} judged, ${formatShort(total.critical)} critical`}
      />
      <StatTile
        label="Cost"
        value={formatUsd(total.cost_usd)}
        detail={
          total.priced === total.calls
            ? 'all calls priced'
            : `${formatShort(total.calls - total.priced)} calls without a price`
        }
      />
      <StatTile
        label="Tokens"
        value={formatShort(total.prompt_tokens + total.completion_tokens)}
        detail={`${formatShort(total.prompt_tokens)} in, ${formatShort(total.completion_tokens)} out`}
      />
      <StatTile
        label="Latency p95"
        value={formatDuration(total.latency_p95_ms)}
        detail={`median ${formatDuration(total.latency_p50_ms)}, p99 ${formatDuration(total.latency_p99_ms)}`}
      />
    </>
  )
}
