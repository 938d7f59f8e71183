import { Badge, Stack, Text } from '@mantine/core'
import type { Answer } from '../../api/call-api.ts'
import { formatBytes, formatCount } from '../../formats/format-number.ts'
import { Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'

type Gateway = Answer<'GET /api/operations'>['gateways'][number]
/** Gateways report every few seconds; after this silence one is down or disconnected. */
const quietMs = 60_000

/** Each gateway's own report: the content of its spool and its losses. */
export function GatewayTable({ gateways, at }: { gateways: readonly Gateway[]; at: string }) {
  const isQuiet = (gateway: Gateway) => Date.parse(at) - Date.parse(gateway.seen_at) > quietMs
  const columns: Column<Gateway>[] = [
    { title: 'Gateway', cell: ({ name }) => <PlainText text={name} /> },
    { title: 'Version', cell: ({ version }) => <PlainText text={version} /> },
    { title: 'Transport', cell: ({ delivery }) => (delivery === 'api' ? 'HTTP' : 'Kafka') },
    {
      title: 'Last seen',
      cell: (gateway) => (
        <>
          <TimeText at={gateway.seen_at} isAgo /> {isQuiet(gateway) ? <Badge color="red">Quiet</Badge> : null}
        </>
      ),
    },
    { title: 'Waiting', isNumber: true, cell: ({ spool }) => formatCount(spool.records) },
    { title: 'On disk', isNumber: true, cell: ({ spool }) => formatBytes(spool.bytes) },
    { title: 'Oldest', cell: ({ spool }) => <TimeText at={spool.oldest_at} isAgo /> },
    { title: 'Lost and problems', cell: (gateway) => <Problems gateway={gateway} /> },
  ]
  if (gateways.length === 0)
    return (
      <Nothing title="No gateway has reported">
        Gateways report once they have INTERNAL_API_SECRET or a key.
      </Nothing>
    )
  return (
    <RowsTable
      label="Gateways"
      columns={columns}
      rows={gateways}
      keyOf={({ project_id: project, name }) => `${project ?? ''} ${name}`}
      minWidth={860}
    />
  )
}

function Problems({ gateway: { lost, problems } }: { gateway: Gateway }) {
  const losses = Object.entries(lost).filter(([, count]) => count > 0)
  if (losses.length === 0 && Object.keys(problems).length === 0) return 'None'
  return (
    <Stack gap={2}>
      {losses.map(([reason, count]) => (
        <Text key={reason} size="xs" c="red">
          {formatCount(count)} lost: <PlainText text={reason} />
        </Text>
      ))}
      {Object.entries(problems).map(([part, problem]) => (
        <Text key={part} size="xs" c="red">
          <PlainText text={`${part}: ${problem}`} />
        </Text>
      ))}
    </Stack>
  )
}
