import { Badge, Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMe } from '../../api/session.ts'
import { useApiPages } from '../../api/use-api.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatUsd } from '../../formats/format-number.ts'
import { LoadedPages } from '../../parts/loaded-pages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { describeTarget, isUnderWay, statusColors, type RedTeamRun } from './red-team-texts.ts'
import { StartAttack } from './start-attack.tsx'

/** Attack runs against one's own agents. */
export function RedTeamPage() {
  const project = useProject()
  const role = useMe().data?.role ?? 'viewer'
  const [isStarting, setIsStarting] = usePersisted<true>(`attack.${project.id}`)
  const runs = useApiPages(
    'GET /api/redteam-runs',
    { query: { project_id: project.id, page_size: '50' } },
    { pollsWhile: isUnderWay },
  )
  return (
    <>
      <PageHead title="Red team">
        {mayVisit(role, { role: 'admin' }) ? (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsStarting(true)}>
            Attack an agent
          </Button>
        ) : null}
      </PageHead>
      {isStarting ? <StartAttack projectId={project.id} onClose={() => setIsStarting(undefined)} /> : null}
      <LoadedPages<'GET /api/redteam-runs'>
        query={runs}
        empty={
          <Nothing title="No runs yet">
            A run attacks an application and scores its answers with the production scorers. Administrators
            start one.
          </Nothing>
        }
      >
        {(rows) => <RunTable runs={rows} />}
      </LoadedPages>
    </>
  )
}

function RunTable({ runs }: { runs: readonly RedTeamRun[] }) {
  const columns: Column<RedTeamRun>[] = [
    {
      title: 'Started',
      cell: ({ id, created_at: at }) => (
        <PageLink to="/runs/$id" params={{ id }}>
          <TimeText at={at} />
        </PageLink>
      ),
    },
    { title: 'Agent', cell: ({ agent_name: name }) => <PlainText text={name} /> },
    { title: 'Target', cell: (run) => <PlainText text={describeTarget(run)} /> },
    {
      title: 'Status',
      cell: ({ status }) => (
        <Badge variant="light" color={statusColors[status]}>
          {status}
        </Badge>
      ),
    },
    { title: 'Attacks', isNumber: true, cell: ({ total_probes: total }) => formatCount(total) },
    { title: 'Got through', isNumber: true, cell: ({ fail_count: failed }) => formatCount(failed) },
    { title: 'Critical', isNumber: true, cell: ({ critical_count: critical }) => formatCount(critical) },
    { title: 'Not judged', isNumber: true, cell: ({ unscored_count: count }) => formatCount(count) },
    { title: 'Cost', isNumber: true, cell: ({ cost_usd: cost }) => formatUsd(cost) },
  ]
  return (
    <RowsTable label="Red-team runs" columns={columns} rows={runs} keyOf={({ id }) => id} minWidth={900} />
  )
}
