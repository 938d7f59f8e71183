import { Badge, Group, Text } from '@mantine/core'
import { PlainText } from '../../parts/plain-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import type { RequestItem } from './merge-scores.ts'
import { readStanding } from './read-standing.ts'

/** The verdict, and what people have made of it. A false alarm keeps its severity, but not its colour. */
export function VerdictCell({ row }: { row: RequestItem }) {
  const standing = readStanding(row)
  if (standing === 'false alarm')
    return (
      <Badge
        variant="default"
        w={96}
        px={4}
        title={`${row.worst_severity ?? 'unsafe'}, marked as a false alarm`}
      >
        false alarm
      </Badge>
    )
  return (
    <>
      <VerdictBadge label={row.worst_label} severity={row.worst_severity} verdict={row.verdict} />
      {standing === undefined ? null : (
        <Text size="xs" c="dimmed">
          {standing}
        </Text>
      )}
    </>
  )
}

/** Which scorer found what: the worst, and how many more. */
export function FoundCell({ row: { unsafe_scores: scores } }: { row: RequestItem }) {
  const [worst] = scores
  if (worst === undefined) return null
  const names = scores.map(({ scorer_name, kind }) =>
    kind === null ? scorer_name : `${scorer_name}: ${kind}`,
  )
  return (
    <div title={names.join(', ')}>
      <Text size="sm" truncate>
        <PlainText text={worst.scorer_name} />
        {scores.length === 1 ? '' : ` +${scores.length - 1}`}
      </Text>
      {worst.kind === null ? null : (
        <Text size="xs" c="dimmed" truncate>
          <PlainText text={worst.kind} />
        </Text>
      )}
    </div>
  )
}

/** One line of the prompt and one of the answer; instead of an answer, why there is none. */
export function SaidCell({ row }: { row: RequestItem }) {
  const { preview, error, status_code: status, aborted_by } = row
  const hasFailed = error !== null || (status ?? 0) >= 400
  return (
    <>
      <Text size="sm" truncate>
        <PlainText text={preview?.prompt ?? ''} />
      </Text>
      <Group gap={6} wrap="nowrap">
        {hasFailed || aborted_by !== null ? (
          <Badge size="sm" color={hasFailed ? 'red.9' : 'gray.7'} flex="none">
            {hasFailed ? `failed${status === null ? '' : ` ${status}`}` : 'broken off'}
          </Badge>
        ) : null}
        <Text size="xs" c="dimmed" truncate>
          <PlainText text={preview?.answer ?? error ?? ''} />
        </Text>
      </Group>
    </>
  )
}
