import { Alert, Badge, Group, List, SimpleGrid, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { formatCount } from '../../formats/format-number.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { GatewayTable } from './gateway-table.tsx'
import { OperationTiles } from './operation-tiles.tsx'

type Operations = Answer<'GET /api/operations'>
type ConsumerGroup = Operations['groups'][number]
type DeadTopic = Operations['dead_letters'][number]

/** An operator's first page: is everything read, sent, stored and alive? */
export function OperationsPage() {
  const operations = useApi('GET /api/operations', {}, { pollMs: 10_000 })
  return (
    <>
      <PageHead title="Operations" />
      <Loaded query={operations}>
        {(answer) => (
          <Stack gap="xl">
            <Health operations={answer} />
            <OperationTiles operations={answer} />
            <SimpleGrid cols={{ base: 1, lg: 2 }}>
              <Section title="Consumers">
                <ConsumerTable groups={answer.groups} />
              </Section>
              <Section title="Dead letters">
                <DeadLetterTable topics={answer.dead_letters} />
              </Section>
            </SimpleGrid>
            <Section title="Gateways">
              <GatewayTable gateways={answer.gateways} at={answer.at} />
            </Section>
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="xs">
      <Title order={2} size="h3">
        {title}
      </Title>
      {children}
    </Stack>
  )
}

/** Problems of services, and those that gateways report. */
function problemsOf({ health, gateways }: Operations): string[] {
  const own = Object.entries(health.problems).map(([part, problem]) => `${part}: ${problem}`)
  const theirs = gateways.flatMap(({ name, problems }) =>
    Object.entries(problems).map(([part, problem]) => `${name}, ${part}: ${problem}`),
  )
  return [...own, ...theirs]
}

function Health({ operations }: { operations: Operations }) {
  const problems = problemsOf(operations)
  if (operations.health.status === 'ok' && problems.length === 0)
    return <Alert color="green" title="All services are healthy" />
  return (
    <Alert color="red" title="Problems" role="alert">
      <List size="sm">
        {problems.map((problem) => (
          <List.Item key={problem}>
            <PlainText text={problem} />
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

function ConsumerTable({ groups }: { groups: readonly ConsumerGroup[] }) {
  const columns: Column<ConsumerGroup>[] = [
    { title: 'Group', cell: ({ group }) => group },
    { title: 'Topic', cell: ({ topic }) => topic },
    {
      title: 'Lag',
      isNumber: true,
      cell: ({ lag, members }) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          {formatCount(lag)}
          {lag > 0 && members === 0 ? <Badge color="red">No consumers</Badge> : null}
        </Group>
      ),
    },
    { title: 'Processes', isNumber: true, cell: ({ members }) => formatCount(members) },
    { title: 'Partitions', isNumber: true, cell: ({ partitions }) => formatCount(partitions) },
  ]
  if (groups.length === 0)
    return <Nothing title="No consumers">Consumers appear after their first read.</Nothing>
  return (
    <RowsTable
      label="Consumers"
      columns={columns}
      rows={groups}
      keyOf={({ group, topic }) => `${group} ${topic}`}
      minWidth={480}
    />
  )
}

function DeadLetterTable({ topics }: { topics: readonly DeadTopic[] }) {
  const columns: Column<DeadTopic>[] = [
    {
      title: 'Topic',
      cell: ({ topic }) => (
        <PageLink to="/operations/dead-letters" search={{ topic }}>
          {topic}
        </PageLink>
      ),
    },
    { title: 'Open', isNumber: true, cell: ({ open }) => formatCount(open) },
    { title: 'Oldest', cell: ({ oldest_at: at }) => <TimeText at={at} isAgo /> },
  ]
  if (topics.length === 0) return <>No open dead letters.</>
  return (
    <RowsTable
      label="Dead letters"
      columns={columns}
      rows={topics}
      keyOf={({ topic }) => topic}
      minWidth={360}
    />
  )
}
