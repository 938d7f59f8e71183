import { Button, Code, Group } from '@mantine/core'
import type { Item } from '../../api/call-api.ts'
import { useApiPages } from '../../api/use-api.ts'
import { useSetTexts, useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { useRange } from '../../app/use-range.ts'
import { FilterPill } from '../../parts/filter-pill.tsx'
import { LoadedPages } from '../../parts/loaded-pages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'

type Entry = Item<'GET /api/audit'>

/** The audit log: changes and readings of bodies. */
export function AuditPage() {
  const range = useRange('30d')
  const { person, action, of } = useTexts()
  const setTexts = useSetTexts()
  const nameOf = useProjectNames()
  const entries = useApiPages('GET /api/audit', {
    query: {
      page_size: '100',
      person_id: person,
      action,
      project_id: of,
      start: range.start,
      end: range.end,
    },
  })
  return (
    <>
      <PageHead title="Audit log">
        <RangePicker range={range} />
      </PageHead>
      <Group mb="sm">
        <FilterPill label="person" value={person} onRemove={() => setTexts({ person: undefined })} />
        <FilterPill label="action" value={action} onRemove={() => setTexts({ action: undefined })} />
        <FilterPill label="project" value={nameOf(of)} onRemove={() => setTexts({ of: undefined })} />
      </Group>
      <LoadedPages<'GET /api/audit'> query={entries} empty={<Nothing title="No entries in this range" />}>
        {(rows) => <AuditTable entries={rows} />}
      </LoadedPages>
    </>
  )
}

function AuditTable({ entries }: { entries: readonly Entry[] }) {
  const setTexts = useSetTexts()
  const nameOf = useProjectNames()
  const columns: Column<Entry>[] = [
    { title: 'Time', cell: ({ at }) => <TimeText at={at} /> },
    { title: 'Person', cell: (entry) => <Actor entry={entry} onChoose={(person) => setTexts({ person })} /> },
    {
      title: 'Action',
      cell: ({ action }) => (
        <Button variant="transparent" px={0} size="compact-sm" onClick={() => setTexts({ action })}>
          {action}
        </Button>
      ),
    },
    { title: 'Of', cell: ({ subject }) => (subject === null ? null : <PlainText text={subject} />) },
    {
      title: 'Project',
      cell: ({ project_id: of }) =>
        of === null ? null : (
          <Button variant="transparent" px={0} maw={160} size="compact-sm" onClick={() => setTexts({ of })}>
            <PlainText text={nameOf(of)} />
          </Button>
        ),
    },
    {
      title: 'Details',
      cell: ({ detail }) =>
        detail === null ? null : (
          <Code block miw={220} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            <PlainText text={JSON.stringify(detail)} />
          </Code>
        ),
    },
    { title: 'From', cell: ({ address }) => address },
  ]
  return (
    <RowsTable label="Audit log" columns={columns} rows={entries} keyOf={({ id }) => id} minWidth={1000} />
  )
}

/** A project's name, or its id if it is not listed. */
function useProjectNames(): <T extends string | undefined>(id: T) => T | string {
  const { all } = useProject()
  return (id) => all.find((project) => project.id === id)?.name ?? id
}

function Actor({ entry, onChoose }: { entry: Entry; onChoose: (person: string) => void }) {
  const { actor_id: id, actor_kind: kind, actor_name: name } = entry
  if (kind !== 'person' || id === null) return <PlainText text={name ?? kind} />
  return (
    <Button variant="transparent" px={0} maw={160} size="compact-sm" onClick={() => onChoose(id)}>
      <PlainText text={name ?? id} />
    </Button>
  )
}
