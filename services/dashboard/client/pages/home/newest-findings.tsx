import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { rowsIn } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { placeOf, titleOf, type Finding } from '../findings/finding-texts.ts'

const dayMs = 86_400_000

/** The open findings that were opened last, those since yesterday marked. */
export function NewestFindings() {
  const { id: project_id } = useProject()
  const findings = useApi(
    'GET /api/findings',
    { query: { project_id, state: 'open', page_size: '6' } },
    { pollMs: 30_000, keepsPrevious: true },
  )
  return (
    <Paper withBorder p="sm" h="100%" component="section" aria-label="Newest findings">
      <Title order={2} mb="xs">
        Newest findings
      </Title>
      <Loaded
        query={findings}
        empty={{
          when: (answer) => rowsIn<'GET /api/findings'>(answer).length === 0,
          show: <Nothing title="Nothing is open" />,
        }}
      >
        {(answer) => (
          <Stack gap="xs">
            {rowsIn<'GET /api/findings'>(answer).map((finding) => (
              <Line key={finding.id} finding={finding} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Paper>
  )
}

function Line({ finding }: { finding: Finding }) {
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
