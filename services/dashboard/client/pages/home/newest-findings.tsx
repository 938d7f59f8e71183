import { Paper, Stack, Title } from '@mantine/core'
import { rowsIn } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { FindingLine } from '../findings/finding-line.tsx'

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
              <FindingLine key={finding.id} finding={finding} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Paper>
  )
}
