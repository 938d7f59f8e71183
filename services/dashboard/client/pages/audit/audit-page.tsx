import { Anchor, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
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
import { describeAction, linesOf } from './audit-texts.ts'

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
        <FilterPill
          label="action"
          value={action === undefined ? undefined : describeAction(action)}
          onRemove={() => setTexts({ action: undefined })}
        />
        <FilterPill label="project" value={nameOf(of)} onRemove={() => setTexts({ of: undefined })} />
      </Group>
      <LoadedPages<'GET /api/audit'> query={entries} empty={<Nothing title="No entries in this range" />}>
        {(rows) => <AuditTable entries={rows} />}
      </LoadedPages>
    </>
  )
}

function AuditTable({ entries }: { entries: readonly Entry[] }) {
  const columns: Column<Entry>[] = [
    { title: 'Time', cell: ({ at }) => <TimeText at={at} /> },
    { title: 'What', cell: (entry) => <Sentence entry={entry} /> },
    { title: 'Details', cell: ({ detail }) => <Details detail={detail} /> },
    { title: 'From', cell: ({ address }) => address },
  ]
  return (
    <RowsTable label="Audit log" columns={columns} rows={entries} keyOf={({ id }) => id} minWidth={900} />
  )
}

/** Who did what to which thing of which project; who, what and project filter the log. */
function Sentence({ entry }: { entry: Entry }) {
  const setTexts = useSetTexts()
  const nameOf = useProjectNames()
  const { action, subject, project_id: of } = entry
  return (
    <>
      <Actor entry={entry} onChoose={(person) => setTexts({ person })} />{' '}
      <Choice onClick={() => setTexts({ action })}>{describeAction(action)}</Choice>
      {of === null ? null : (
        <>
          {' in '}
          <Choice onClick={() => setTexts({ of })}>
            <PlainText text={nameOf(of)} />
          </Choice>
        </>
      )}
      {subject === null || subject === of ? null : (
        <Text size="xs" c="dimmed">
          <PlainText text={subject} />
        </Text>
      )}
    </>
  )
}

function Choice({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Anchor component="button" inherit ta="left" onClick={onClick}>
      {children}
    </Anchor>
  )
}

function Details({ detail }: Pick<Entry, 'detail'>) {
  return (
    <Stack gap={2} miw={220}>
      {linesOf(detail).map(({ field, before, after }) => (
        <Text key={field} size="sm">
          <Text span c="dimmed" size="sm">
            {field}:
          </Text>{' '}
          {before === undefined ? null : (
            <>
              <PlainText text={before} />
              {' → '}
            </>
          )}
          <PlainText text={after} />
        </Text>
      ))}
    </Stack>
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
    <Choice onClick={() => onChoose(id)}>
      <PlainText text={name ?? id} />
    </Choice>
  )
}
