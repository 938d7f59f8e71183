import { Badge, Grid, Group, Paper, Stack, Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMe } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { usePathText } from '../../app/address.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useNamedProject } from '../../app/project.ts'
import { absent, formatCount } from '../../formats/format-number.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { NoAnswerYet } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { FindingButtons } from './finding-buttons.tsx'
import { FindingCalls } from './finding-calls.tsx'
import { FindingComments } from './finding-comments.tsx'
import { FindingHistory } from './finding-history.tsx'
import { ageOf, formatValues, titleOf, type FindingDetail } from './finding-texts.ts'
import { StateBadge } from './state-badge.tsx'
import { useFindingActions } from './use-finding-actions.tsx'

/** One finding: its calls, what people said and did, and what can be done. */
export function FindingPage() {
  const id = usePathText('id')
  const finding = useApi('GET /api/findings/{id}', { params: { id }, query: {} }, { pollMs: 30_000 })
  useNamedProject(finding.data?.project_id)
  if (finding.data !== undefined) return <Detail key={id} finding={finding.data} />
  return (
    <>
      <PageHead title="Finding" />
      <NoAnswerYet query={finding} />
    </>
  )
}

function Detail({ finding }: { finding: FindingDetail }) {
  const mayAct = mayVisit(useMe().data?.role ?? 'viewer', { role: 'analyst' })
  const actions = useFindingActions()
  return (
    <>
      <PageHead title={titleOf(finding)} heading={<PlainText text={titleOf(finding)} />}>
        <VerdictBadge label="unsafe" severity={finding.severity} />
        <StateBadge finding={finding} />
        {finding.is_overdue ? <Badge color="red.9">Overdue</Badge> : null}
      </PageHead>
      {mayAct ? (
        <Group mb="md">
          <FindingButtons findings={[finding]} actions={actions} />
        </Group>
      ) : null}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="lg">
            <Part title="Calls">
              <FindingCalls finding={finding} />
            </Part>
            <Part title="Comments">
              <FindingComments finding={finding} mayAct={mayAct} />
            </Part>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack gap="lg">
            <Facts finding={finding} />
            <Part title="History">
              <FindingHistory finding={finding} actions={mayAct ? actions : null} />
            </Part>
          </Stack>
        </Grid.Col>
      </Grid>
      {actions.dialog}
    </>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      {children}
    </section>
  )
}

function Facts({ finding }: { finding: FindingDetail }) {
  const { agent_name: agent, tool_name: tool, owasp_category: owasp, owner } = finding
  const least = finding.sessions_are_exact ? '' : ' or more'
  const textOf = (text: string | null) => (text === null ? absent : <PlainText text={text} />)
  const facts: [string, ReactNode][] = [
    ['Scorer', textOf(finding.scorer_name)],
    ['Kind', textOf(finding.evidence_kind)],
    ['Agent', textOf(agent)],
    ['Tool', textOf(tool)],
    ['OWASP', textOf(owasp)],
    ['Owner', textOf(owner?.login ?? null)],
    ['Calls', formatCount(finding.count)],
    ['Different values', formatValues(finding)],
    ['Sessions', `${formatCount(finding.sessions)}${least}`],
    ['Users', `${formatCount(finding.users)}${least}`],
    ['First seen', <TimeText key="first" at={finding.first_seen_at} />],
    ['Last seen', <TimeText key="last" at={finding.last_seen_at} />],
    ['Opened', <TimeText key="opened" at={finding.opened_at} />],
    ['Age', ageOf(finding, Date.now())],
    ...(finding.due_at === null
      ? []
      : [['Due', <TimeText key="due" at={finding.due_at} />] as [string, ReactNode]]),
    ...(finding.closed_at === null
      ? []
      : [['Closed', <Closed key="closed" finding={finding} />] as [string, ReactNode]]),
  ]
  return (
    <Paper withBorder p="xs">
      <Table aria-label="Facts" variant="vertical" withRowBorders={false} verticalSpacing={3}>
        <Table.Tbody>
          {facts.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w={130} fw={400}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  )
}

function Closed({ finding: { closed_at: at, closed_by: by } }: { finding: FindingDetail }) {
  return (
    <Text component="span" inherit>
      <TimeText at={at} />
      {by === null ? null : (
        <>
          {' by '}
          <PlainText text={by} />
        </>
      )}
    </Text>
  )
}
