import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { formatDuration, formatUsd, nounOf } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { readEvidence, type ScoredEvidence } from '../request/mark-evidence.ts'
import type { Turn } from '../request/read-conversation.ts'
import { TurnView } from '../request/turn-view.tsx'
import type { FoldedCall } from './fold-history.ts'

export type SessionCall = NonNullable<Answer<'GET /api/sessions/{id}'>['items']>[number]

interface SessionCallProps {
  call: SessionCall
  /** Since the call before. */
  gapMs: number
  /** Undefined: not read, not kept, or withheld. */
  said: FoldedCall | undefined
}

/** One call of a session with its new messages. */
export function SessionCallView({ call, gapMs, said }: SessionCallProps) {
  const evidence = call.safety_scores.flatMap((score): ScoredEvidence[] =>
    readEvidence(score.evidence).map((found) => ({ ...found, scorer: score.scorer_name })),
  )
  return (
    <Paper component="li" id={call.id} withBorder p="sm">
      <CallHead call={call} gapMs={gapMs} />
      {said === undefined ? null : (
        <Stack gap="xs" mt="xs" component="ol" p={0} style={{ listStyle: 'none' }}>
          {said.repeated.length === 0 ? null : <Repeated turns={said.repeated} evidence={evidence} />}
          {said.fresh.map((turn, index) => (
            <TurnView key={index} turn={turn} evidence={evidence} />
          ))}
        </Stack>
      )}
    </Paper>
  )
}

function Repeated({ turns, evidence }: { turns: readonly Turn[]; evidence: readonly ScoredEvidence[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <li>
        <Button size="compact-xs" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fold' : 'Show'} {turns.length} repeated {nounOf(turns.length, 'message')}
        </Button>
      </li>
      {isOpen ? turns.map((turn, index) => <TurnView key={index} turn={turn} evidence={evidence} />) : null}
    </>
  )
}

function CallHead({ call, gapMs }: Omit<SessionCallProps, 'said'>) {
  const unsafe = call.safety_scores.filter(({ score_label }) => score_label === 'unsafe')
  const hasFailed = call.error !== null || (call.status_code ?? 0) >= 400
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <PageLink to="/requests/$id" params={{ id: call.id }} fw={600}>
          <PlainText text={call.tool_name ?? call.model} />
        </PageLink>
        <VerdictBadge label={call.worst_label} severity={call.worst_severity} verdict={call.verdict} />
        {hasFailed ? (
          <Badge color="red.9">failed{call.status_code === null ? '' : ` ${call.status_code}`}</Badge>
        ) : null}
      </Group>
      <Text size="xs" c="dimmed">
        <TimeText at={call.created_at} />
        {gapMs === 0 ? '' : `, ${formatDuration(gapMs)} later`}
        {`, took ${formatDuration(call.latency_ms)}, ${formatUsd(call.cost_usd)}`}
        {call.agent_name === null ? null : (
          <>
            , <PlainText text={call.agent_name} />
          </>
        )}
      </Text>
      {unsafe.map(({ id, scorer_name, rationale }) => (
        <Text key={id} size="sm">
          <PlainText text={rationale === null ? scorer_name : `${scorer_name}: ${rationale}`} />
        </Text>
      ))}
    </Stack>
  )
}
