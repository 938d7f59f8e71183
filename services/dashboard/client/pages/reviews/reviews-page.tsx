import { Badge, Button, SegmentedControl, SimpleGrid, Stack, Title } from '@mantine/core'
import { addressOf, type Answer, type Item } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApi, useApiPages } from '../../api/use-api.ts'
import { useSetTexts, useTexts } from '../../app/address.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useProject } from '../../app/project.ts'
import { useRange } from '../../app/use-range.ts'
import { formatCount, formatShare } from '../../formats/format-number.ts'
import { DownloadButton } from '../../parts/download-button.tsx'
import { LoadedPages } from '../../parts/loaded-pages.tsx'
import { FilterPill } from '../../parts/filter-pill.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'

type Review = Item<'GET /api/reviews'>
type Agreement = Answer<'GET /api/reviews/agreement'>['scorers'][number]

const choices = [
  { value: '', label: 'All' },
  { value: 'true', label: 'Agreed' },
  { value: 'false', label: 'Disagreed' },
]

/** People's reviews, and each scorer's accuracy by them. */
export function ReviewsPage() {
  const project = useProject()
  const role = useMe().data?.role ?? 'viewer'
  const range = useRange('90d')
  const { agrees: wanted, scorer_name } = useTexts()
  const setTexts = useSetTexts()
  const agrees = (['true', 'false'] as const).find((each) => each === wanted)
  const query = { project_id: project.id, start: range.start, end: range.end, agrees, scorer_name }
  const reviews = useApiPages('GET /api/reviews', { query: { ...query, page_size: '50' } })
  return (
    <>
      <PageHead title="Reviews">
        <SegmentedControl
          size="sm"
          aria-label="Filter"
          data={choices}
          value={agrees ?? ''}
          onChange={(value) => setTexts({ agrees: value })}
        />
        <RangePicker range={range} />
        {mayVisit(role, { role: 'analyst' }) ? (
          <DownloadButton address={addressOf('GET /api/reviews/export', { query })} name="reviews.jsonl">
            Export cases
          </DownloadButton>
        ) : null}
      </PageHead>
      <Stack gap="xl">
        <AgreementPanel query={{ project_id: project.id, start: range.start, end: range.end }} />
        <FilterPill
          label="scorer"
          value={scorer_name}
          onRemove={() => setTexts({ scorer_name: undefined })}
        />
        <LoadedPages<'GET /api/reviews'>
          query={reviews}
          empty={
            <Nothing title="No reviews in this range">
              Analysts agree or disagree with verdicts on the page of a request.
            </Nothing>
          }
        >
          {(rows) => <ReviewTable reviews={rows} />}
        </LoadedPages>
      </Stack>
    </>
  )
}

interface AgreementQuery {
  project_id: string
  start: string | undefined
  end: string | undefined
}

function AgreementPanel({ query }: { query: AgreementQuery }) {
  const setTexts = useSetTexts()
  const agreement = useApi('GET /api/reviews/agreement', { query }, { keepsPrevious: true })
  const columns: Column<Agreement>[] = [
    {
      title: 'Scorer',
      cell: ({ scorer_name: name }) => (
        <Button
          variant="transparent"
          px={0}
          size="compact-sm"
          onClick={() => setTexts({ scorer_name: name })}
        >
          <PlainText text={name} />
        </Button>
      ),
    },
    { title: 'Reviewed', isNumber: true, cell: ({ reviews }) => formatCount(reviews) },
    { title: 'Agreed', isNumber: true, cell: ({ agreed, reviews }) => formatShare(agreed, reviews) },
    { title: 'False alarms', isNumber: true, cell: (scorer) => formatCount(scorer.false_alarms) },
    { title: 'Missed', isNumber: true, cell: ({ missed }) => formatCount(missed) },
  ]
  return (
    <Loaded query={agreement} empty={{ when: ({ scorers }) => scorers.length === 0, show: null }}>
      {({ scorers }) => (
        <SimpleGrid cols={1}>
          <Title order={2} size="h3">
            Agreement by scorer
          </Title>
          <RowsTable
            label="Agreement"
            columns={columns}
            rows={scorers}
            keyOf={({ scorer_name: name }) => name}
          />
        </SimpleGrid>
      )}
    </Loaded>
  )
}

function ReviewTable({ reviews }: { reviews: readonly Review[] }) {
  const columns: Column<Review>[] = [
    { title: 'Time', cell: ({ created_at: at }) => <TimeText at={at} /> },
    {
      title: 'Request',
      cell: ({ request_id: id }) => (
        <PageLink to="/requests/$id" params={{ id }}>
          {id}
        </PageLink>
      ),
    },
    { title: 'Scorer', cell: ({ scorer_name: name }) => <PlainText text={name} /> },
    { title: 'Verdict', cell: ({ score_label: label }) => label },
    {
      title: 'Review',
      cell: ({ agrees, expected_label: label }) => (
        <Badge color={agrees ? 'green' : 'orange'} variant="light">
          {agrees ? 'agrees' : `should be ${label}`}
        </Badge>
      ),
    },
    { title: 'Comment', cell: ({ reason }) => (reason === null ? null : <PlainText text={reason} />) },
    { title: 'Reviewer', cell: ({ reviewer }) => <PlainText text={reviewer} /> },
  ]
  return <RowsTable label="Reviews" columns={columns} rows={reviews} keyOf={({ id }) => id} minWidth={900} />
}
