import { columnVisibilityFeature, createColumnHelper, tableFeatures } from '@tanstack/react-table'
import { countTokens } from '../../formats/count-tokens.ts'
import { absent, formatCount, formatDuration, formatUsd } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import type { RequestItem } from './merge-scores.ts'
import { coverageWords, SaidCell, VerdictCell, WhoCell } from './request-cells.tsx'

export const features = tableFeatures({ columnVisibilityFeature })
const helper = createColumnHelper<typeof features, RequestItem>()

/** Width in pixels; absent: what the others leave. Numbers are right-aligned. */
export const shapes: Readonly<Record<string, { width: number; isNumber?: boolean }>> = {
  created_at: { width: 150 },
  verdict: { width: 212 },
  who: { width: 130 },
  coverage: { width: 150 },
  of_scorer: { width: 116 },
  agent_name: { width: 120 },
  agent_tag: { width: 110 },
  model: { width: 140 },
  tool_name: { width: 110 },
  provider: { width: 100 },
  source: { width: 90 },
  session_id: { width: 130 },
  user_id: { width: 110 },
  tokens: { width: 84, isNumber: true },
  // Fits US$0.0000012, the cost of a short call.
  cost_usd: { width: 120, isNumber: true },
  latency_ms: { width: 88, isNumber: true },
  status_code: { width: 80, isNumber: true },
  score_count: { width: 80, isNumber: true },
}

/** Hidden by default. */
export const initiallyHidden = {
  coverage: false,
  model: false,
  tool_name: false,
  tokens: false,
  cost_usd: false,
  latency_ms: false,
  agent_name: false,
  agent_tag: false,
  provider: false,
  source: false,
  session_id: false,
  user_id: false,
  status_code: false,
  score_count: false,
}

/** `7 of 9`, and which scorers did not read the call. */
function Coverage({ coverage, unread_scorers }: Pick<RequestItem, 'coverage' | 'unread_scorers'>) {
  if (coverage === null) return absent
  const words = coverageWords(coverage, unread_scorers)
  return (
    <span title={words}>
      <PlainText text={words} />
    </span>
  )
}

function text(
  id: 'agent_name' | 'agent_tag' | 'model' | 'tool_name' | 'provider' | 'source' | 'session_id' | 'user_id',
  header: string,
) {
  return helper.accessor(id, {
    header,
    cell: ({ row }) => {
      const value = row.original[id]
      return value === null ? absent : <PlainText text={value} />
    },
  })
}

export const columns = helper.columns([
  helper.accessor('created_at', {
    header: 'Time',
    enableHiding: false,
    cell: ({ row: { original } }) => (
      <PageLink to="/requests/$id" params={{ id: original.id }}>
        <TimeText at={original.created_at} />
      </PageLink>
    ),
  }),
  helper.display({
    id: 'verdict',
    header: 'Verdict',
    enableHiding: false,
    cell: ({ row: { original } }) => <VerdictCell row={original} />,
  }),
  helper.display({
    id: 'said',
    header: 'Prompt and answer',
    enableHiding: false,
    cell: ({ row: { original } }) => <SaidCell row={original} />,
  }),
  helper.display({
    id: 'who',
    header: 'Agent, user',
    cell: ({ row: { original } }) => <WhoCell row={original} />,
  }),
  helper.display({
    id: 'coverage',
    header: 'Decided',
    cell: ({ row: { original } }) => <Coverage {...original} />,
  }),
  // Only with a scorer filter.
  helper.display({
    id: 'of_scorer',
    header: 'By scorer',
    enableHiding: false,
    cell: ({ row: { original } }) => (
      <VerdictBadge label={original.scorer_label ?? null} severity={original.scorer_severity ?? null} />
    ),
  }),
  text('agent_name', 'Agent'),
  text('agent_tag', 'Agent tag'),
  text('model', 'Model'),
  text('tool_name', 'Tool'),
  text('provider', 'Provider'),
  text('source', 'Source'),
  text('session_id', 'Session'),
  text('user_id', 'User'),
  helper.display({
    id: 'tokens',
    header: 'Tokens',
    cell: ({ row: { original } }) => formatCount(countTokens(original).all),
  }),
  helper.accessor('cost_usd', { header: 'Cost', cell: ({ row }) => formatUsd(row.original.cost_usd) }),
  helper.accessor('latency_ms', {
    header: 'Latency',
    cell: ({ row }) => formatDuration(row.original.latency_ms),
  }),
  helper.accessor('status_code', { header: 'Status', cell: ({ row }) => row.original.status_code ?? absent }),
  helper.accessor('score_count', {
    header: 'Scores',
    cell: ({ row }) => formatCount(row.original.score_count),
  }),
])
