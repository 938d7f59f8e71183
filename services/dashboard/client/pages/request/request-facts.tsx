import { Paper, Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { absent, formatCount, formatDuration, formatUsd } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import type { RequestDetail } from './request-detail.ts'

/** What was recorded beside the bodies. Each leads to the requests that share it. */
export function RequestFacts({ request }: { request: RequestDetail }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Model', <Shared request={request} key="model" filter="model" value={request.model} />],
    ['Provider', <Shared request={request} key="provider" filter="provider" value={request.provider} />],
    ['Agent', <Shared request={request} key="agent" filter="agent_name" value={request.agent_name} />],
    ['Session', <Shared request={request} key="session" filter="session_id" value={request.session_id} />],
    ['User', <Shared request={request} key="user" filter="user_id" value={request.user_id} />],
    ['Tool', <Shared request={request} key="tool" filter="tool_name" value={request.tool_name} />],
    ['Source', <Shared request={request} key="source" filter="source" value={request.source} />],
    [
      'Tokens',
      `${formatCount(request.prompt_tokens)} in, ${formatCount(request.completion_tokens)} out` +
        (request.cached_tokens === null ? '' : `, ${formatCount(request.cached_tokens)} cached`),
    ],
    ['Cost', formatUsd(request.cost_usd)],
    [
      'Latency',
      formatDuration(request.latency_ms) +
        (request.time_to_first_token_ms === null
          ? ''
          : `, first token ${formatDuration(request.time_to_first_token_ms)}`),
    ],
    ['Status', request.status_code ?? absent],
    ['Error', request.error === null ? null : <PlainText key="error" text={request.error} />],
    [
      'Broken off by',
      request.aborted_by === null ? null : <PlainText key="aborted" text={request.aborted_by} />,
    ],
    ...Object.entries(request.metadata ?? {}).map(
      ([name, value]) =>
        [
          name,
          <Shared
            request={request}
            key={name}
            filter={`metadata.${name}`}
            value={typeof value === 'string' ? value : JSON.stringify(value)}
          />,
        ] as const,
    ),
  ]
  return (
    <Paper withBorder p="xs">
      <Table variant="vertical" withRowBorders={false} verticalSpacing={3} fz="sm" aria-label="Facts">
        <Table.Tbody>
          {facts
            .filter(([, value]) => value !== null)
            .map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th w={110} scope="row">
                  <PlainText text={name} />
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </Paper>
  )
}

interface SharedProps {
  request: RequestDetail
  filter: string
  value: string | null
}

function Shared({ request: { source }, filter, value }: SharedProps) {
  if (value === null) return absent
  // Without its source the list leaves a probe out.
  const ofRedteam = source === 'redteam' ? { source } : {}
  return (
    <PageLink to="/requests" search={{ ...ofRedteam, [filter]: value, range: '7d' }}>
      <PlainText text={value} />
    </PageLink>
  )
}
