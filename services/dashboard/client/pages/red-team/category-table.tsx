import { useApi } from '../../api/use-api.ts'
import { formatCount } from '../../formats/format-number.ts'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { describeRate, type RedTeamDiff } from './red-team-texts.ts'

type Category = RedTeamDiff['categories'][number]

interface CategoryTableProps {
  id: string
  /** Another run to compare with. */
  against: string | undefined
  isUnderWay: boolean
}

/** Success rates by OWASP category. */
export function CategoryTable({ id, against, isUnderWay }: CategoryTableProps) {
  const diff = useApi(
    'GET /api/redteam-runs/{id}/diff',
    { params: { id }, query: { against } },
    isUnderWay ? { pollMs: 5_000 } : {},
  )
  const columns: Column<Category>[] = [
    { title: 'Category', cell: ({ category }) => category },
    { title: 'Attacks', isNumber: true, cell: ({ after }) => formatCount(after?.total) },
    { title: 'Got through', isNumber: true, cell: ({ after }) => formatCount(after?.fail_count) },
    { title: 'Not judged', isNumber: true, cell: ({ after }) => formatCount(after?.unscored_count) },
    { title: 'Rate', isNumber: true, cell: ({ after }) => describeRate(after) },
    ...(against === undefined
      ? []
      : [{ title: 'The other run', isNumber: true, cell: ({ before }: Category) => describeRate(before) }]),
  ]
  return (
    <Loaded
      query={diff}
      empty={{
        when: ({ categories }) => categories.length === 0,
        show: <Nothing title="No results yet" />,
      }}
    >
      {({ categories }) => (
        <RowsTable
          label="By category"
          columns={columns}
          rows={categories}
          keyOf={({ category }) => category}
        />
      )}
    </Loaded>
  )
}
