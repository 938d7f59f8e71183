import { Badge, Button, Group, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import type { Item } from '../../api/call-api.ts'
import { useApiPages } from '../../api/use-api.ts'
import { useSetTexts, useTexts } from '../../app/address.ts'
import { FilterPill } from '../../parts/filter-pill.tsx'
import { LoadedPages } from '../../parts/loaded-pages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { DeadLetterDrawer } from './dead-letter-drawer.tsx'
import { DecideAll } from './decide-all.tsx'

export type DeadLetter = Item<'GET /api/dead-letters'>
const statuses = ['open', 'redriven', 'dropped', 'lost'] as const
const colors = { open: 'red', redriven: 'green', dropped: 'gray', lost: 'orange' } as const

/** Records that could not be handled: inspect, replay, or discard with a reason. */
export function DeadLettersPage() {
  const { topic, code, status: wanted } = useTexts()
  const setTexts = useSetTexts()
  const status = statuses.find((each) => each === wanted) ?? 'open'
  const [shownId, setShownId] = useState<string>()
  const letters = useApiPages('GET /api/dead-letters', { query: { topic, code, status, page_size: '50' } })
  return (
    <>
      <PageHead title="Dead letters">
        <SegmentedControl
          size="xs"
          aria-label="Status"
          data={[...statuses]}
          value={status}
          onChange={(value) => setTexts({ status: value })}
        />
        {status === 'open' ? <DecideAll topic={topic} code={code} /> : null}
      </PageHead>
      <Group mb="sm">
        <FilterPill label="topic" value={topic} onRemove={() => setTexts({ topic: undefined })} />
        <FilterPill label="code" value={code} onRemove={() => setTexts({ code: undefined })} />
      </Group>
      <LoadedPages<'GET /api/dead-letters'>
        query={letters}
        empty={
          <Nothing title={`No ${status} dead letters`}>Records that cannot be handled are kept here.</Nothing>
        }
      >
        {(rows) => <LetterTable letters={rows} onShow={setShownId} />}
      </LoadedPages>
      {shownId === undefined ? null : <DeadLetterDrawer id={shownId} onClose={() => setShownId(undefined)} />}
    </>
  )
}

function LetterTable({ letters, onShow }: { letters: readonly DeadLetter[]; onShow: (id: string) => void }) {
  const setTexts = useSetTexts()
  const columns: Column<DeadLetter>[] = [
    { title: 'Since', cell: ({ dead_at: at }) => <TimeText at={at} /> },
    {
      title: 'Topic',
      cell: ({ topic }) => (
        <Button variant="transparent" px={0} size="compact-sm" onClick={() => setTexts({ topic })}>
          {topic}
        </Button>
      ),
    },
    {
      title: 'Code',
      cell: ({ code }) => (
        <Button variant="transparent" px={0} size="compact-sm" onClick={() => setTexts({ code })}>
          {code}
        </Button>
      ),
    },
    { title: 'Detail', cell: ({ message }) => <PlainText text={message} /> },
    {
      title: 'Status',
      cell: ({ status }) => (
        <Badge color={colors[status]} variant="light">
          {status}
        </Badge>
      ),
    },
    {
      title: 'Action',
      cell: ({ id }) => (
        <Button size="compact-sm" variant="default" onClick={() => onShow(id)}>
          Inspect
        </Button>
      ),
    },
  ]
  return (
    <RowsTable label="Dead letters" columns={columns} rows={letters} keyOf={({ id }) => id} minWidth={860} />
  )
}
