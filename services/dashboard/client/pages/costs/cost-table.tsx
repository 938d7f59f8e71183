import { Text } from '@mantine/core'
import { countTokens } from '../../formats/count-tokens.ts'
import {
  formatCount,
  formatDuration,
  formatShare,
  formatShort,
  formatUsd,
} from '../../formats/format-number.ts'
import { rangeTexts, type ChosenRange } from '../../formats/time-range.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import {
  describeBefore,
  filtersOfGroup,
  labelOfDimension,
  nameOfGroup,
  type Costs,
  type Group,
} from './read-costs.ts'

interface CostTableProps {
  costs: Costs
  range: ChosenRange
  projectName: (id: string) => string
}

/** A row a group; its name leads to its requests. */
export function CostTable({ costs, range, projectName }: CostTableProps) {
  const { by, groups, total, previous } = costs
  const nameOf = (group: Group) => {
    const filters = filtersOfGroup(group, by)
    const name = <PlainText text={nameOfGroup(group, by, projectName)} />
    if (filters === undefined)
      return (
        <Text c="dimmed" inherit component="span">
          {name}
        </Text>
      )
    return (
      <PageLink to="/requests" search={{ ...rangeTexts(range), ...filters }}>
        {name}
      </PageLink>
    )
  }
  const columns: Column<Group>[] = [
    { title: by.map(labelOfDimension).join(', '), cell: nameOf },
    { title: 'Cost', isNumber: true, cell: ({ cost_usd: usd }) => formatUsd(usd) },
    { title: 'Share', isNumber: true, cell: ({ cost_usd: usd }) => formatShare(usd, total.cost_usd) },
    ...(previous === null
      ? []
      : [
          {
            title: 'Before',
            isNumber: true,
            cell: ({ cost_usd: usd, previous: before }: Group) =>
              describeBefore(usd, before?.cost_usd ?? 0, formatUsd),
          },
        ]),
    { title: 'Calls', isNumber: true, cell: ({ calls }) => formatCount(calls) },
    { title: 'Failed', isNumber: true, cell: ({ failed, calls }) => formatShare(failed, calls) },
    { title: 'Unsafe', isNumber: true, cell: ({ unsafe, calls }) => formatShare(unsafe, calls) },
    { title: 'Tokens in', isNumber: true, cell: (group) => formatShort(countTokens(group).read) },
    { title: 'Tokens out', isNumber: true, cell: (group) => formatShort(countTokens(group).written) },
    { title: 'Median', isNumber: true, cell: ({ latency_p50_ms: ms }) => formatDuration(ms) },
    { title: 'p95', isNumber: true, cell: ({ latency_p95_ms: ms }) => formatDuration(ms) },
  ]
  return (
    <RowsTable
      label="Costs"
      columns={columns}
      rows={groups}
      keyOf={({ values, is_other }) => JSON.stringify([is_other, values])}
      minWidth={980}
    />
  )
}
