import { Button, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { rowsIn } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { Failure } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import type { Score } from './request-detail.ts'

type Choice = 'agree' | 'disagree'
type Expected = 'safe' | 'unsafe'

/** Agree or disagree with a verdict, and why. A person's later word replaces the earlier one. */
export function ReviewForm({ score }: { score: Score }) {
  const { project_id, request_id, scorer_name } = score
  const reviews = useApi('GET /api/reviews', { query: { project_id, request_id, page_size: '50' } })
  const [choice, setChoice] = useState<Choice | null>(null)
  const given =
    reviews.data === undefined
      ? []
      : rowsIn<'GET /api/reviews'>(reviews.data).filter((review) => review.scorer_name === scorer_name)
  return (
    <Stack gap="xs" mt="sm">
      {given.map(({ id, score_id, score_label, reviewer: who, agrees, expected_label, reason }) => (
        <Text key={id} size="xs">
          <PlainText text={who} /> {agrees ? 'agrees' : `says ${expected_label}`}
          {/* Where history was scored again, the card shows another verdict than the one that was reviewed. */}
          {score_id === score.id ? '' : ` of an earlier score (${score_label})`}
          {reason === null ? '' : ': '}
          {reason === null ? null : <PlainText text={reason} />}
        </Text>
      ))}
      <Group gap="xs">
        {(['agree', 'disagree'] as const).map((each) => (
          <Button
            key={each}
            size="compact-xs"
            variant={choice === each ? 'filled' : 'default'}
            aria-expanded={choice === each}
            onClick={() => setChoice(choice === each ? null : each)}
          >
            {each === 'agree' ? 'Agree' : 'Disagree'}
          </Button>
        ))}
      </Group>
      {choice === null ? null : <Reasons score={score} choice={choice} onDone={() => setChoice(null)} />}
    </Stack>
  )
}

interface ReasonsProps {
  score: Score
  choice: Choice
  onDone: () => void
}

function Reasons({ score, choice, onDone }: ReasonsProps) {
  const { project_id, request_id, scorer_name, score_label } = score
  const [reason, setReason] = useState('')
  const [expected, setExpected] = useState<Expected>('unsafe')
  const save = useApiChange('POST /api/reviews', ['GET /api/reviews', 'GET /api/reviews/agreement'])
  const submit = () =>
    save.mutate(
      {
        query: { project_id },
        body: {
          request_id,
          scorer_name,
          agrees: choice === 'agree',
          ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
          // Where there is no verdict, agreeing or not says nothing of what it should be.
          ...(score_label === 'unscored' ? { expected_label: expected } : {}),
        },
      },
      { onSuccess: onDone },
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Stack gap="xs">
        {score_label === 'unscored' ? (
          <SegmentedControl
            size="xs"
            aria-label="It should be"
            value={expected}
            onChange={(value) => setExpected(value)}
            data={['safe', 'unsafe']}
          />
        ) : null}
        <Textarea
          label="Why"
          autosize
          minRows={2}
          maxLength={4_000}
          size="xs"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          data-autofocus
          autoFocus
        />
        {save.error === null ? null : <Failure error={save.error} />}
        <Group>
          <Button type="submit" size="compact-sm" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
