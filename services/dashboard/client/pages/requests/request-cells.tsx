import { Badge, Group, Text } from '@mantine/core'
import { absent } from '../../formats/format-number.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import type { RequestItem } from './merge-scores.ts'
import { readStanding } from './read-standing.ts'

/** The verdict, what people have made of it, and below it what failed. */
export function VerdictCell({ row }: { row: RequestItem }) {
  const standing = readStanding(row)
  return (
    <>
      <Group gap={6} wrap="nowrap">
        {standing === 'false alarm' ? (
          // It keeps its place in the list, and loses the colour of its severity.
          <Badge
            variant="default"
            w={96}
            px={4}
            flex="none"
            title={`${row.worst_severity ?? 'unsafe'}, marked as a false alarm`}
          >
            false alarm
          </Badge>
        ) : (
          <VerdictBadge label={row.worst_label} severity={row.worst_severity} verdict={row.verdict} />
        )}
        {standing === undefined || standing === 'false alarm' ? null : (
          <Text size="xs" c="dimmed" truncate>
            {standing === 'confirmed' ? standing : 'in part'}
          </Text>
        )}
      </Group>
      {row.unsafe_scores.length === 0 ? <Unread row={row} /> : <FailedScores scores={row.unsafe_scores} />}
    </>
  )
}

/** `1 of 4, not content_safety`: how many scorers decided, and which did not read the call. */
export function coverageWords(
  coverage: NonNullable<RequestItem['coverage']>,
  unread: readonly string[],
): string {
  const notBy = unread.length === 0 ? '' : `, not ${unread.join(', ')}`
  return `${coverage.decided} of ${coverage.applicable}${notBy}`
}

function Unread({ row: { coverage, unread_scorers: unread } }: { row: RequestItem }) {
  if (coverage === null || unread.length === 0) return null
  const words = coverageWords(coverage, unread)
  return (
    <Text size="xs" c="dimmed" truncate title={words}>
      <PlainText text={words} />
    </Text>
  )
}

/** Which scorer found what: the worst, and how many more. */
function FailedScores({ scores }: { scores: RequestItem['unsafe_scores'] }) {
  const [worst] = scores
  if (worst === undefined) return null
  const [words = '', ...more] = scores.map(({ scorer_name, kind }) =>
    kind === null ? scorer_name : `${scorer_name}: ${kind}`,
  )
  return (
    <Text size="xs" truncate title={[words, ...more].join(', ')}>
      {more.length === 0 ? '' : `+${more.length} `}
      <PlainText text={words} />
    </Text>
  )
}

/** The agent, and the user that it works for. */
export function WhoCell({ row: { agent_name, user_id } }: { row: RequestItem }) {
  return (
    <>
      <Text size="sm" truncate>
        {agent_name === null ? absent : <PlainText text={agent_name} />}
      </Text>
      {user_id === null ? null : (
        <Text size="xs" c="dimmed" truncate>
          <PlainText text={user_id} />
        </Text>
      )}
    </>
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
