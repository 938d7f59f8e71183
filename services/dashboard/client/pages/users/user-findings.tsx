import { Paper, Stack, Text, Title } from '@mantine/core'
import { rowsIn } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { formatCount } from '../../formats/format-number.ts'
import { Loaded } from '../../parts/page-states.tsx'
import { FindingLine } from '../findings/finding-line.tsx'

const shown = 6

/** Open findings with a call of this user. */
export function UserFindings({ userId }: { userId: string }) {
  const { id: project_id } = useProject()
  const findings = useApi(
    'GET /api/findings',
    { query: { project_id, user_id: userId, state: 'open', page_size: String(shown) } },
    { pollMs: 60_000, keepsPrevious: true },
  )
  return (
    <Paper withBorder p="sm" component="section" aria-label="Open findings">
      <Title order={2} mb="xs">
        Open findings
      </Title>
      <Loaded
        query={findings}
        empty={{
          when: ({ total }) => total === 0,
          show: <Text size="sm">None with a call of this user.</Text>,
        }}
      >
        {(answer) => (
          <Stack gap="xs">
            {rowsIn<'GET /api/findings'>(answer).map((finding) => (
              <FindingLine key={finding.id} finding={finding} />
            ))}
            {answer.total <= shown ? null : (
              <Text size="sm" c="dimmed">
                and {formatCount(answer.total - shown)} more
              </Text>
            )}
          </Stack>
        )}
      </Loaded>
    </Paper>
  )
}
