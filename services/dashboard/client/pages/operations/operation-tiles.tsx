import { SimpleGrid } from '@mantine/core'
import type { Answer } from '../../api/call-api.ts'
import { formatCount, formatDuration } from '../../formats/format-number.ts'
import { formatDay } from '../../formats/format-time.ts'
import { StatTile } from '../../parts/stat-tile.tsx'
import { TimeText } from '../../parts/time-text.tsx'

/** The main numbers on backlogs. */
export function OperationTiles({ operations }: { operations: Answer<'GET /api/operations'> }) {
  const { oldest_job_age_s: jobAge, outbox, deliveries_waiting: waiting, partitions } = operations
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <StatTile label="Oldest scoring job">
        {jobAge === null ? 'None waiting' : formatDuration(jobAge * 1_000)}
      </StatTile>
      <StatTile label="Unpublished events" detail={<OldestEvent at={outbox.oldest_at} />}>
        {formatCount(outbox.unpublished)}
      </StatTile>
      <StatTile label="Waiting deliveries">{formatCount(waiting)}</StatTile>
      <StatTile label="Days with partitions" detail={`until ${formatDay(partitions.last)}`}>
        {formatCount(partitions.days)}
      </StatTile>
    </SimpleGrid>
  )
}

function OldestEvent({ at }: { at: string | null }) {
  return at === null ? null : (
    <>
      oldest <TimeText at={at} isAgo />
    </>
  )
}
