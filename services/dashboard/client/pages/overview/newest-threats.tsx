import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { rangeTexts, type ChosenRange } from '../../formats/time-range.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'

/** The latest unsafe calls of the range. */
export function NewestThreats({ range }: { range: ChosenRange }) {
  const { id: project_id } = useProject()
  const { start, end } = range
  const threats = useApi(
    'GET /api/requests',
    { query: { project_id, start, end, label: 'unsafe', include_redteam: 'false', page_size: '8' } },
    { pollMs: 10_000, keepsPrevious: true },
  )
  return (
    <Paper withBorder p="sm" h="100%">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Newest threats</Title>
        <PageLink to="/requests" search={{ ...rangeTexts(range), label: 'unsafe' }} size="sm">
          All
        </PageLink>
      </Group>
      <Loaded
        query={threats}
        empty={{ when: ({ total }) => total === 0, show: <Nothing title="No unsafe calls in this range" /> }}
      >
        {(answer) => (
          <Stack gap="xs">
            {('items' in answer ? answer.items : []).map((request) => (
              <Group key={request.id} wrap="nowrap" gap="sm">
                <VerdictBadge label={request.worst_label} severity={request.worst_severity} />
                <PageLink to="/requests/$id" params={{ id: request.id }} size="sm" flex={1} truncate>
                  <PlainText text={request.agent_name ?? request.model} />
                </PageLink>
                <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                  <TimeText at={request.created_at} isAgo />
                </Text>
              </Group>
            ))}
          </Stack>
        )}
      </Loaded>
    </Paper>
  )
}
