import { countTokens } from '../../formats/count-tokens.ts'
import {
  formatDuration,
  formatShare,
  formatShort,
  formatShortUsd,
  nounOf,
} from '../../formats/format-number.ts'
import { StatTile } from '../../parts/stat-tile.tsx'
import { callSeriesOf, describeReadings, describeUnsafe, type Stats } from './read-stats.ts'

/** The totals of the range. */
export function CallTiles({ stats }: { stats: Stats }) {
  const total = callSeriesOf(stats)[0]?.total
  if (total === undefined) return null
  const unsafe = describeUnsafe(total)
  const readings = describeReadings(total)
  const tokens = countTokens(total)
  return (
    <>
      <StatTile label="Calls" detail={`${formatShare(total.failed, total.calls)} failed`}>
        {formatShort(total.calls)}
      </StatTile>
      <StatTile label="Unsafe" detail={unsafe.detail}>
        {unsafe.share}
      </StatTile>
      <StatTile label="No finding" detail={readings.detail}>
        {readings.share}
      </StatTile>
      <StatTile
        label="Cost"
        detail={
          total.priced === total.calls
            ? 'all calls priced'
            : `${formatShort(total.calls - total.priced)} ${nounOf(total.calls - total.priced, 'call')} without a price`
        }
      >
        {formatShortUsd(total.cost_usd)}
      </StatTile>
      <StatTile label="Tokens" detail={`${formatShort(tokens.read)} in, ${formatShort(tokens.written)} out`}>
        {formatShort(tokens.all)}
      </StatTile>
      <StatTile
        label="Latency p95"
        detail={`median ${formatDuration(total.latency_p50_ms)}, p99 ${formatDuration(total.latency_p99_ms)}`}
      >
        {formatDuration(total.latency_p95_ms)}
      </StatTile>
    </>
  )
}
