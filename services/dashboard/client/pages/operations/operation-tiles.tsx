import { Paper, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { formatCount, formatDuration } from '../../formats/format-number.ts'
import { formatDay } from '../../formats/format-time.ts'
import { TimeText } from '../../parts/time-text.tsx'

/** The few numbers that say whether something waits. */
export function OperationTiles({ operations }: { operations: Answer<'GET /api/operations'> }) {
  const { oldest_job_age_s: jobAge, outbox, deliveries_waiting: waiting, partitions } = operations
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Tile label="Oldest scoring job">
        {jobAge === null ? 'None waits' : formatDuration(jobAge * 1_000)}
      </Tile>
      <Tile label="Events not published yet" below={<OldestEvent at={outbox.oldest_at} />}>
        {formatCount(outbox.unpublished)}
      </Tile>
      <Tile label="Deliveries that wait">{formatCount(waiting)}</Tile>
      <Tile label="Days with partitions" below={`until ${formatDay(partitions.last)}`}>
        {formatCount(partitions.days)}
      </Tile>
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

function Tile({ label, below, children }: { label: string; below?: ReactNode; children: ReactNode }) {
  return (
    <Paper withBorder p="md">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="xl" fw={600}>
        {children}
      </Text>
      <Text size="xs" c="dimmed">
        {below}
      </Text>
    </Paper>
  )
}
