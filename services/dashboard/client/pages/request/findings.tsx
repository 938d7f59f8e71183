import { Alert, Stack, Text, Title } from '@mantine/core'
import classes from './findings.module.css'
import type { Evidence } from './mark-evidence.ts'
import type { RequestDetail, Score } from './request-detail.ts'
import { RequestFacts } from './request-facts.tsx'
import { ScoreGroups } from './score-groups.tsx'
import { WebhookDeliveries } from './webhook-deliveries.tsx'

interface FindingsProps {
  request: RequestDetail
  scores: readonly Score[]
  onSeek: ((evidence: Evidence) => void) | undefined
}

/** The call's facts, and the scores that found nothing. */
export function Findings({ request, scores, onSeek }: FindingsProps) {
  return (
    <div className={classes['beside']}>
      <Stack>
        <RequestFacts request={request} />
        <Title order={2} id="scores" tabIndex={-1}>
          Scores
        </Title>
        <Text size="xs" c="dimmed">
          1 (safe) to 5; unsafe from 4, unless the scorer has another threshold.
        </Text>
        {scores.length === 0 ? (
          <Alert color="gray" title="No scores yet">
            Scores arrive seconds after a call is recorded.
          </Alert>
        ) : null}
        <ScoreGroups request={request} scores={scores} onSeek={onSeek} />
        <WebhookDeliveries
          request={request}
          isUnsafe={scores.some(({ score_label: label }) => label === 'unsafe')}
        />
      </Stack>
    </div>
  )
}
