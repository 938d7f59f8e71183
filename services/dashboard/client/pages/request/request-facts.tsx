import { Paper, Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { describeTokens } from '../../formats/count-tokens.ts'
import { absent, formatDuration, formatUsd } from '../../formats/format-number.ts'
import { rangeAround } from '../../formats/time-range.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { isFilterable } from './is-filterable.ts'
import type { RequestDetail } from './request-detail.ts'

/** Half a week on either side, to find similar calls. */
const aroundMs = 3.5 * 24 * 3_600_000

/** The recorded facts besides the bodies. Each links to requests that share it. */
export function RequestFacts({ request }: { request: RequestDetail }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Model', <Shared request={request} key="model" filter="model" value={request.model} />],
    ['Provider', <Shared request={request} key="provider" filter="provider" value={request.provider} />],
    ['Agent', <Shared request={request} key="agent" filter="agent_name" value={request.agent_name} />],
    [
      'Agent tag',
      request.agent_tag === null ? null : (
        <Shared request={request} key="tag" filter="agent_tag" value={request.agent_tag} />
      ),
    ],
    ['Session', <Shared request={request} key="session" filter="session_id" value={request.session_id} />],
    ['User', <Shared request={request} key="user" filter="user_id" value={request.user_id} />],
    ['Tool', <Shared request={request} key="tool" filter="tool_name" value={request.tool_name} />],
    ['Source', <Shared request={request} key="source" filter="source" value={request.source} />],
    ['Tokens', describeTokens(request)],
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
      'Aborted by',
      request.aborted_by === null ? null : <PlainText key="aborted" text={request.aborted_by} />,
    ],
  ]
  return (
    <Paper withBorder p="xs">
      <Table variant="vertical" withRowBorders={false} verticalSpacing={3} fz="sm" aria-label="Facts">
        <Table.Tbody>
          {facts.map(([name, value]) =>
            value === null ? null : (
              <FactRow key={name} name={name}>
                {value}
              </FactRow>
            ),
          )}
        </Table.Tbody>
        <MetadataRows request={request} />
      </Table>
    </Paper>
  )
}

/** Callers choose metadata names, so one called Status or Agent is kept apart. */
function MetadataRows({ request }: { request: RequestDetail }) {
  const metadata = Object.entries(request.metadata ?? {})
  if (metadata.length === 0) return null
  return (
    <Table.Tbody>
      <Table.Tr>
        <Table.Th colSpan={2} scope="rowgroup">
          Metadata
        </Table.Th>
      </Table.Tr>
      {metadata.map(([name, value]) => (
        <FactRow key={name} name={name}>
          <Metadata request={request} name={name} value={value} />
        </FactRow>
      ))}
    </Table.Tbody>
  )
}

function FactRow({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th w={110} scope="row">
        <PlainText text={name} />
      </Table.Th>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{children}</Table.Td>
    </Table.Tr>
  )
}

interface SharedProps {
  request: RequestDetail
  filter: string
  value: string | null
}

function Metadata({ request, name, value }: { request: RequestDetail; name: string; value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return isFilterable(name, value) ? (
    <Shared request={request} filter={`metadata.${name}`} value={text} />
  ) : (
    <PlainText text={text} />
  )
}

function Shared({ request, filter, value }: SharedProps) {
  if (value === null) return absent
  return (
    <SimilarLink request={request} filters={{ [filter]: value }}>
      <PlainText text={value} />
    </SimilarLink>
  )
}

interface LikeLinkProps {
  request: RequestDetail
  filters: Readonly<Record<string, string>>
  children: ReactNode
}

/** Links to calls around this one with the same `filters`. */
export function SimilarLink({ request: { source, created_at }, filters, children }: LikeLinkProps) {
  // Without this source, the list excludes probes.
  const ofRedteam = source === 'redteam' ? { source } : {}
  const range = rangeAround({ from: created_at, to: created_at }, aroundMs, Date.now())
  return (
    <PageLink to="/requests" search={{ ...ofRedteam, ...filters, ...range }}>
      {children}
    </PageLink>
  )
}
