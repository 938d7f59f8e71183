import { Button, Checkbox, Menu, Popover, Stack } from '@mantine/core'
import { IconColumns, IconDownload } from '@tabler/icons-react'
import type { ColumnVisibilityState } from '@tanstack/react-table'
import { addressOf } from '../../api/call-api.ts'
import { useDownload } from '../../parts/download-button.tsx'
import { columns } from './request-columns.tsx'

interface ColumnMenuProps {
  visibility: ColumnVisibilityState
  setVisibility: (visibility: ColumnVisibilityState) => void
}

/** Chooses columns. Time and verdict are always shown. */
export function ColumnMenu({ visibility, setVisibility }: ColumnMenuProps) {
  const hideable = columns.filter(({ enableHiding }) => enableHiding !== false)
  return (
    <Popover position="bottom-end" trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns size={16} aria-hidden />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" role="group" aria-label="Columns">
          {hideable.map((column) => {
            const id = String('accessorKey' in column ? column.accessorKey : column.id)
            return (
              <Checkbox
                key={id}
                label={String(column.header)}
                checked={visibility[id] !== false}
                onChange={(event) => setVisibility({ ...visibility, [id]: event.currentTarget.checked })}
              />
            )
          })}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

const formats = [
  ['csv', 'CSV, for spreadsheets'],
  ['jsonl', 'JSON lines'],
] as const

/** Exports all filtered rows; the API streams them page by page. */
export function ExportMenu({ query }: { query: Readonly<Record<string, string | undefined>> }) {
  const { isUnderWay, download } = useDownload()
  const addressAs = (format: 'csv' | 'jsonl') =>
    addressOf('GET /api/requests/export', { query: { ...query, format } })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" loading={isUnderWay} leftSection={<IconDownload size={16} aria-hidden />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map(([format, label]) => (
          <Menu.Item
            key={format}
            onClick={() => download({ address: addressAs(format), name: `requests.${format}` })}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
