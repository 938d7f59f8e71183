import { Badge, Group, Paper, Text, Title } from '@mantine/core'
import { useApi } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { formatCount } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'

const severities = ['critical', 'high', 'medium'] as const

/** How many findings are open now, whatever the range: the worst first. */
export function OpenFindings() {
  const { id: project_id } = useProject()
  const { data } = useApi(
    'GET /api/findings/facets',
    { query: { project_id, state: 'open' } },
    { pollMs: 30_000, keepsPrevious: true },
  )
  if (data === undefined) return null
  return (
    <Paper withBorder p="sm" mb="lg" component="section" aria-label="Open findings">
      <Group gap="md">
        <Title order={2}>
          <PageLink to="/findings">Open findings</PageLink>
        </Title>
        {data.findings === 0 ? <Text size="sm">None</Text> : null}
        {severities.map((severity) => {
          const count = data.severity.find(({ value }) => value === severity)?.count ?? 0
          return count === 0 ? null : (
            <PageLink key={severity} to="/findings" search={{ severity }}>
              <Group gap={6} component="span">
                <VerdictBadge label="unsafe" severity={severity} /> {formatCount(count)}
              </Group>
            </PageLink>
          )
        })}
        {data.overdue === 0 ? null : (
          <PageLink to="/findings" search={{ overdue: 'true' }}>
            <Badge color="red.9">{formatCount(data.overdue)} overdue</Badge>
          </PageLink>
        )}
      </Group>
    </Paper>
  )
}
