import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { absent, formatShare, formatShort } from '../../formats/format-number.ts'
import { formatDay } from '../../formats/format-time.ts'
import { useFailure } from '../../parts/page-states.tsx'
import { StatTile } from '../../parts/stat-tile.tsx'

/** Usage of the tier's quota. Its failure does not hide the rest of the page. */
export function QuotaTile() {
  const { id: project_id } = useProject()
  const subscription = useApi('GET /api/billing/subscription', { query: { project_id } }, { pollMs: 60_000 })
  const { data } = subscription
  const failure = useFailure(subscription)
  if (data === undefined) {
    return (
      <StatTile label="Quota used" detail={failure?.message ?? 'loading'}>
        {absent}
      </StatTile>
    )
  }
  const { limit, requests_this_period: used, period_reset_at, tier } = data
  return (
    <StatTile
      label="Quota used"
      detail={
        limit === null
          ? `requests this period, ${tier} has no limit`
          : `${formatShort(used)} of ${formatShort(limit)} (${tier}) until ${formatDay(period_reset_at)}`
      }
    >
      {limit === null ? formatShort(used) : formatShare(used, limit)}
    </StatTile>
  )
}
