import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Column<T> {
  title: string
  cell: (row: T) => ReactNode
  /** Numbers stand under each other. */
  isNumber?: boolean
}

interface RowsTableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** px below which it scrolls sideways instead of squeezing. */
  minWidth?: number
}

/** A table that shows what it is given: for lists of a page's length. */
export function RowsTable<T>({ label, columns, rows, keyOf, minWidth = 640 }: RowsTableProps<T>) {
  return (
    // Reached by keyboard: where it scrolls, its cells may hold nothing that is.
    <Table.ScrollContainer minWidth={minWidth} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table highlightOnHover aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ title, isNumber }) => (
              <Table.Th key={title} ta={isNumber === true ? 'right' : 'left'}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {columns.map(({ title, cell, isNumber }) => (
                <Table.Td key={title} ta={isNumber === true ? 'right' : 'left'}>
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
