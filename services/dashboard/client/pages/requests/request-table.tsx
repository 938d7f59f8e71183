import { Box, Table, Text } from '@mantine/core'
import { useTable, type ColumnVisibilityState } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState, type RefObject } from 'react'
import { usePageKeys } from '../../app/page-keys.ts'
import type { RequestItem } from './merge-scores.ts'
import { columns, features, shapes } from './request-columns.tsx'
import classes from './request-table.module.css'

const rowPx = 52
/** Distance from the end, in rows, at which the next page loads. */
const ahead = 30

interface RequestTableProps {
  rows: readonly RequestItem[]
  visibility: ColumnVisibilityState
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
}

/** A virtual table: only visible rows are rendered. Arrow keys move up and down. */
export function RequestTable(props: RequestTableProps) {
  const { rows, visibility, hasMore, isLoadingMore } = props
  const scroller = useRef<HTMLDivElement>(null)
  const table = useTable({
    features,
    columns,
    data: rows,
    getRowId: ({ id }) => id,
    state: { columnVisibility: visibility },
  })
  const { shown, before, after, active } = useShownRows({ ...props, scroller })
  const models = table.getRowModel().rows
  return (
    <Box
      ref={scroller}
      className={classes['scroller'] ?? ''}
      tabIndex={0}
      role="region"
      aria-label="Requests"
    >
      <Table className={classes['table'] ?? ''} aria-rowcount={hasMore ? -1 : rows.length + 1} stickyHeader>
        <Table.Thead>
          {table.getHeaderGroups().map((group) => (
            <Table.Tr key={group.id}>
              {group.headers.map((header) => (
                <Table.Th key={header.id} w={shapes[header.column.id]?.width} ta={alignOf(header.column.id)}>
                  <table.FlexRender header={header} />
                </Table.Th>
              ))}
            </Table.Tr>
          ))}
        </Table.Thead>
        <Table.Tbody>
          <Spacer px={before} />
          {shown.map(({ index }) => {
            const row = models[index]
            if (row === undefined) return null
            return (
              <Table.Tr
                key={row.id}
                h={rowPx}
                aria-rowindex={index + 2}
                data-index={index}
                data-active={index === active || undefined}
              >
                {row.getVisibleCells().map((cell) => (
                  <Table.Td key={cell.id} ta={alignOf(cell.column.id)}>
                    <table.FlexRender cell={cell} />
                  </Table.Td>
                ))}
              </Table.Tr>
            )
          })}
          <Spacer px={after} />
        </Table.Tbody>
      </Table>
      {isLoadingMore ? <LoadingMore /> : null}
    </Box>
  )
}

function LoadingMore() {
  return (
    <Text size="sm" c="dimmed" ta="center" p="xs" role="status">
      Loading more
    </Text>
  )
}

function alignOf(column: string): 'right' | 'left' {
  return shapes[column]?.isNumber === true ? 'right' : 'left'
}

type Scroller = RefObject<HTMLDivElement | null>

/** The rows to render, the space before and after them, and the active row. Loads more near the end. */
function useShownRows({
  rows,
  hasMore,
  isLoadingMore,
  loadMore,
  scroller,
}: RequestTableProps & { scroller: Scroller }) {
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 12,
    // The heading covers the first row scrolled to, and pushes the last one down.
    scrollPaddingStart: rowPx,
    scrollPaddingEnd: 2 * rowPx,
  })
  const active = useActiveRow(rows.length, scroller, (index) => virtualizer.scrollToIndex(index))
  const shown = virtualizer.getVirtualItems()
  const last = shown.at(-1)
  const isNearEnd = (last?.index ?? 0) > rows.length - ahead
  useEffect(() => {
    if (hasMore && !isLoadingMore && isNearEnd) loadMore()
  }, [hasMore, isLoadingMore, isNearEnd, loadMore])
  return { shown, active, before: shown[0]?.start ?? 0, after: virtualizer.getTotalSize() - (last?.end ?? 0) }
}

/** Space for rows that are not rendered. */
function Spacer({ px }: { px: number }) {
  return px <= 0 ? null : (
    <tr aria-hidden>
      <td style={{ height: px, padding: 0 }} />
    </tr>
  )
}

/** The active row of keyboard navigation. Its link has focus, for Enter and screen readers. */
function useActiveRow(count: number, scroller: Scroller, scrollTo: (index: number) => void): number | null {
  const [active, setActive] = useState<number | null>(null)
  const go = (by: number) => {
    if (count === 0) return
    const next = active === null ? 0 : Math.min(Math.max(active + by, 0), count - 1)
    scrollTo(next)
    setActive(next)
  }
  usePageKeys({ nextRow: () => go(1), previousRow: () => go(-1) })
  useEffect(() => {
    if (active === null) return
    // A row outside the view is rendered in the next frame.
    const frame = requestAnimationFrame(() =>
      scroller.current
        ?.querySelector<HTMLElement>(`tr[data-index="${active}"] a`)
        ?.focus({ preventScroll: true }),
    )
    return () => cancelAnimationFrame(frame)
  }, [active, scroller])
  return active
}
