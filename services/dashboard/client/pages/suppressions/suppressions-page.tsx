import { Badge, Button, Stack, Text, Title } from '@mantine/core'
import type { Item } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApiChange, useApiPages } from '../../api/use-api.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useProject } from '../../app/project.ts'
import { formatCount } from '../../formats/format-number.ts'
import { toVisibleText } from '../../formats/visible-text.ts'
import { confirmAction } from '../../parts/confirm-action.tsx'
import { LoadedPages } from '../../parts/loaded-pages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { CalibrationPanel } from './calibration-panel.tsx'

type Suppression = Item<'GET /api/suppressions'>

/** Known false alarms, and each scorer's figures by reviews. */
export function SuppressionsPage() {
  const project = useProject()
  const suppressions = useApiPages('GET /api/suppressions', {
    query: { project_id: project.id, page_size: '50' },
  })
  return (
    <>
      <PageHead title="Suppressions" />
      <Stack gap="xl">
        <LoadedPages<'GET /api/suppressions'>
          query={suppressions}
          empty={
            <Nothing title="No suppressions yet">
              Analysts mark known false alarms on the page of a request. They delete nothing.
            </Nothing>
          }
        >
          {(rows) => <SuppressionTable suppressions={rows} />}
        </LoadedPages>
        <Stack>
          <Title order={2} size="h3">
            Calibration by reviews
          </Title>
          <CalibrationPanel projectId={project.id} />
        </Stack>
      </Stack>
    </>
  )
}

function SuppressionTable({ suppressions }: { suppressions: readonly Suppression[] }) {
  const role = useMe().data?.role ?? 'viewer'
  const revoke = useApiChange('POST /api/suppressions/{id}/revoke', ['GET /api/suppressions'])
  const ask = ({ id, project_id, scorer_name: scorer }: Suppression) =>
    confirmAction({
      title: 'Revoke this suppression?',
      consequence: `Scores of ${toVisibleText(scorer)} are no longer marked by it. Those that it marked stay marked.`,
      confirm: 'Revoke',
      action: () => revoke.mutateAsync({ params: { id }, query: { project_id } }),
      done: 'The suppression is revoked.',
    })
  const columns: Column<Suppression>[] = [
    { title: 'Scorer', cell: ({ scorer_name: name }) => <PlainText text={name} /> },
    { title: 'Covers', cell: (suppression) => <Covers suppression={suppression} /> },
    { title: 'Up to', cell: ({ max_severity: severity }) => severity },
    { title: 'Reason', cell: ({ reason }) => (reason === null ? null : <PlainText text={reason} />) },
    {
      title: 'By',
      cell: ({ author, created_at: at }) => (
        <>
          <PlainText text={author} />, <TimeText at={at} />
        </>
      ),
    },
    { title: 'Marked', isNumber: true, cell: ({ covered }) => formatCount(covered) },
    {
      title: 'Ends',
      cell: ({ is_active: isActive, expires_at: expiresAt, revoked_at: revokedAt }) => (
        <>
          {isActive ? null : <Badge color="gray">Ended</Badge>}{' '}
          {(revokedAt ?? expiresAt) === null ? (
            'When revoked'
          ) : (
            <TimeText at={revokedAt ?? expiresAt ?? ''} />
          )}
        </>
      ),
    },
    {
      title: '',
      cell: (suppression) =>
        suppression.is_active && mayVisit(role, { role: 'analyst' }) ? (
          <Button size="compact-xs" variant="default" onClick={() => ask(suppression)}>
            Revoke
          </Button>
        ) : null,
    },
  ]
  return (
    <RowsTable
      label="Suppressions"
      columns={columns}
      rows={suppressions}
      keyOf={({ id }) => id}
      minWidth={900}
    />
  )
}

function Covers({ suppression }: { suppression: Suppression }) {
  const { kind, agent_name: agent, tool_name: tool, has_value: hasValue } = suppression
  const parts = [
    ...(kind === null ? [] : [`kind ${kind}`]),
    ...(tool === null ? [] : [`tool ${tool}`]),
    ...(agent === null ? [] : [`agent ${agent}`]),
    ...(hasValue ? ['one exact value'] : []),
  ]
  return parts.length === 0 ? <Text size="sm">Everything</Text> : <PlainText text={parts.join(', ')} />
}
