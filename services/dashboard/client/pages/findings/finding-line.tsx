import { Badge, Group, Text } from '@mantine/core'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { placeOf, titleOf, type Finding } from './finding-texts.ts'

const dayMs = 86_400_000

/** A finding in short lists; one since yesterday is marked. */
export function FindingLine({ finding }: { finding: Finding }) {
  const isNew = Date.now() - Date.parse(finding.opened_at) < dayMs
  return (
    <Group wrap="nowrap" gap="sm">
      <VerdictBadge label="unsafe" severity={finding.severity} />
      <Text size="sm" truncate flex={1}>
        <PageLink to="/findings/$id" params={{ id: finding.id }}>
          <PlainText text={titleOf(finding)} />
        </PageLink>{' '}
        <PlainText text={placeOf(finding)} />
      </Text>
      {isNew ? (
        <Badge variant="light" visibleFrom="xs">
          New
        </Badge>
      ) : null}
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        <TimeText at={finding.opened_at} isAgo />
      </Text>
    </Group>
  )
}
