import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { ApiError } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { formatCount, formatUsd, nounOf } from '../../formats/format-number.ts'
import { Failure, Loaded } from '../../parts/page-states.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { stoppedTexts, type Definition, type Preview } from './scorer-texts.ts'

interface PreviewProps {
  projectId: string
  definitionOf: () => Definition
  onError: (error: ApiError) => void
}

const days = 7

/** Tries what the form says on the calls of the last week. */
export function ScorerPreview({ projectId, definitionOf, onError }: PreviewProps) {
  const [id, setId] = useState<string>()
  const order = useApiChange('POST /api/scorers/previews', [])
  const begin = () =>
    order.mutate(
      { query: { project_id: projectId }, body: { definition: definitionOf(), days } },
      { onSuccess: (preview) => setId(preview.id), onError },
    )
  return (
    <Stack gap="xs">
      <Group>
        <Button variant="default" loading={order.isPending} onClick={begin}>
          Preview on the last {days} days
        </Button>
      </Group>
      {order.error === null ? null : <Failure error={order.error} />}
      {id === undefined ? null : <PreviewResult projectId={projectId} id={id} />}
    </Stack>
  )
}

const isOver = ({ status }: Preview) => status === 'done' || status === 'failed'

function PreviewResult({ projectId, id }: { projectId: string; id: string }) {
  const query = useApi(
    'GET /api/scorers/previews/{id}',
    { params: { id }, query: { project_id: projectId } },
    { pollMs: 1_000, isLast: isOver },
  )
  return <Loaded query={query}>{(preview) => <ShownPreview preview={preview} />}</Loaded>
}

function ShownPreview({ preview }: { preview: Preview }) {
  const { status, problem, report, hits } = preview
  if (status === 'failed') {
    return (
      <Alert color="red" title="The preview failed">
        <PlainText text={problem ?? 'No reason is known.'} />
      </Alert>
    )
  }
  if (report === null)
    return (
      <Text size="sm" role="status">
        Looking at calls…
      </Text>
    )
  const { reviews, stopped_by: stopped } = report
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        It would find {formatCount(report.hits)} of {formatCount(report.calls)} {nounOf(report.calls, 'call')}
        {report.unscored === 0 ? '' : `; ${formatCount(report.unscored)} could not be decided`}
        {report.cost_usd === null ? '' : `; the judge cost ${formatUsd(report.cost_usd)}`}.{' '}
        {reviews.calls === 0
          ? 'None of them has a review.'
          : `It agrees with ${formatCount(reviews.agreed)} of ${formatCount(reviews.calls)} reviewed calls: ${formatCount(reviews.false_alarms)} false alarms, ${formatCount(reviews.missed)} missed.`}
        {stopped === null ? '' : ` ${stoppedTexts[stopped]}`}
      </Text>
      {hits.length === 0 ? null : <HitTable hits={hits} />}
    </Stack>
  )
}

type Hit = Preview['hits'][number]

function HitTable({ hits }: { hits: readonly Hit[] }) {
  const columns: Column<Hit>[] = [
    {
      title: 'Call',
      cell: ({ request_id: id, created_at: at }) => (
        <PageLink to="/requests/$id" params={{ id }}>
          <TimeText at={at} />
        </PageLink>
      ),
    },
    {
      title: 'Matched',
      cell: ({ matches, rationale }) => (
        <PlainText text={matches.length === 0 ? rationale : matches.map(({ text }) => text).join(' · ')} />
      ),
    },
    {
      title: 'Review',
      cell: ({ expected }) =>
        expected === null ? null : (
          <Badge variant="light" color={expected === 'safe' ? 'red' : 'green'}>
            {expected === 'safe' ? 'False alarm' : 'Agrees'}
          </Badge>
        ),
    },
  ]
  return (
    <RowsTable
      label="Calls that it would find"
      columns={columns}
      rows={hits}
      keyOf={({ request_id }) => request_id}
      minWidth={480}
    />
  )
}
