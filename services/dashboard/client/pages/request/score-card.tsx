import { Button, Card, Group, Text } from '@mantine/core'
import { describeOwasp } from '#schemas/verdicts.ts'
import { useMe } from '../../api/session.ts'
import { mayVisit } from '../../app/page-entry.ts'
import { absent, formatUsd } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import { FalseAlarm } from './false-alarm.tsx'
import { readEvidence, type Evidence } from './mark-evidence.ts'
import type { RequestDetail, Score } from './request-detail.ts'
import { SimilarLink } from './request-facts.tsx'
import { ReviewForm } from './review-form.tsx'
import { explainScore } from './explain-score.ts'

interface ScoreCardProps {
  request: RequestDetail
  score: Score
  /** Scrolls to a piece of evidence. Absent: the content is not shown. */
  onSeek: ((evidence: Evidence) => void) | undefined
}

/** One verdict with its reason, method, evidence and reviews. */
export function ScoreCard({ request, score, onSeek }: ScoreCardProps) {
  const role = useMe().data?.role ?? 'viewer'
  const owasp = describeOwasp(score.owasp_category)
  const why = explainScore(score)
  return (
    <Card withBorder padding="sm" component="section" aria-label={score.scorer_name}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <Text fw={600} size="sm">
            <SimilarLink
              request={request}
              filters={{ scorer_name: score.scorer_name, label: score.score_label }}
            >
              <PlainText text={score.scorer_name} />
            </SimilarLink>
          </Text>
          {score.owasp_category === null ? null : (
            <Text size="xs" c="dimmed">
              <PlainText text={score.owasp_category} /> {owasp}
            </Text>
          )}
        </div>
        <Group gap="xs" wrap="nowrap">
          <Text size="sm">{score.score_value ?? absent}</Text>
          <VerdictBadge label={score.score_label} severity={score.severity} />
        </Group>
      </Group>
      {why === null ? null : (
        <Text size="sm" mt="xs" style={{ overflowWrap: 'anywhere' }}>
          <PlainText text={why} />
        </Text>
      )}
      <EvidenceList evidence={readEvidence(score.evidence)} onSeek={onSeek} />
      <Text size="xs" c="dimmed" mt="xs">
        {describeMethod(score)}, <TimeText at={score.created_at} />
      </Text>
      <Text size="xs">
        <PageLink to="/reviews" search={{ scorer_name: score.scorer_name }}>
          Reviews of this scorer
        </PageLink>
      </Text>
      {score.suppressed_by === null ? null : (
        <Text size="xs">
          <PageLink to="/suppressions">Marked as a known false alarm</PageLink>
        </Text>
      )}
      {mayVisit(role, { role: 'analyst' }) ? (
        <>
          <ReviewForm score={score} />
          <FalseAlarm score={score} agentName={request.agent_name} />
        </>
      ) : null}
    </Card>
  )
}

function describeMethod({ method, scorer_version, judge }: Score): string {
  const by = { detector: 'by detectors', judge: 'by the judge', custom: 'by a custom scorer' }[method]
  if (judge === null) return `${by}, version ${scorer_version}`
  if (typeof judge.failed === 'string')
    return `${by}, version ${scorer_version}; ${judge.model} was asked too, without a verdict: ${judge.failed}`
  const shared = (judge.asked_together ?? 1) > 1 ? ` for ${judge.asked_together} scorers` : ''
  return `${by}: ${judge.model}, rubric ${judge.rubric}, ${formatUsd(judge.cost_usd)}${shared}`
}

/** Buttons that scroll to the marks. */
function EvidenceList({
  evidence,
  onSeek,
}: Pick<ScoreCardProps, 'onSeek'> & { evidence: readonly Evidence[] }) {
  if (evidence.length === 0) return null
  return (
    <Group gap={4} mt="xs">
      {evidence.slice(0, 20).map((found, index) => (
        <Button
          key={index}
          size="compact-xs"
          variant="default"
          disabled={onSeek === undefined}
          onClick={() => onSeek?.(found)}
        >
          <PlainText text={found.kind} />
        </Button>
      ))}
      {evidence.length > 20 ? <Text size="xs">and {evidence.length - 20} more</Text> : null}
    </Group>
  )
}
