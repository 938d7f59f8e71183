import { Button, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { rowsIn } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { Failure } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import type { Score } from './request-detail.ts'

/** What shows reviews: also lists of requests, which mark false alarms. */
export const shownByReviews = [
  'GET /api/reviews',
  'GET /api/reviews/agreement',
  'GET /api/requests',
  'GET /api/requests/facets',
] as const

type Choice = 'agree' | 'disagree'
type Expected = 'safe' | 'unsafe'

/** An unsent review. */
interface Draft {
  choice: Choice
  reason: string
  /** Used if there is no verdict to agree with. */
  expected: Expected
}

/** Agrees or disagrees with a verdict, with a comment. A person's later review replaces the earlier one. */
export function ReviewForm({ score }: { score: Score }) {
  const { project_id, request_id, scorer_name } = score
  const reviews = useApi('GET /api/reviews', { query: { project_id, request_id, page_size: '50' } })
  const [draft, setDraft] = useDraft<Draft>(`review.${project_id}.${request_id}.${scorer_name}`)
  const [isChosenHere, setChosenHere] = useState(false)
  const choose = (choice: Choice) => {
    setChosenHere(true)
    setDraft(draft?.choice === choice ? undefined : { reason: '', expected: 'unsafe', ...draft, choice })
  }
  const given =
    reviews.data === undefined
      ? []
      : rowsIn<'GET /api/reviews'>(reviews.data).filter((review) => review.scorer_name === scorer_name)
  return (
    <Stack gap="xs" mt="sm">
      {given.map(({ id, score_id, score_label, reviewer: who, agrees, expected_label, reason }) => (
        <Text key={id} size="xs">
          <PlainText text={who} /> {agrees ? 'agrees' : `says ${expected_label}`}
          {/* After a promotion the card's verdict differs from the reviewed one. */}
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
            variant={draft?.choice === each ? 'filled' : 'default'}
            aria-expanded={draft?.choice === each}
            onClick={() => choose(each)}
          >
            {each === 'agree' ? 'Agree' : 'Disagree'}
          </Button>
        ))}
      </Group>
      {draft === undefined ? null : (
        <DraftFields score={score} draft={draft} setDraft={setDraft} takesFocus={isChosenHere} />
      )}
    </Stack>
  )
}

interface DraftFieldsProps {
  score: Score
  draft: Draft
  setDraft: (draft: Draft | undefined) => void
  takesFocus: boolean
}

function DraftFields({ score, draft, setDraft, takesFocus }: DraftFieldsProps) {
  const { project_id, request_id, scorer_name, score_label } = score
  const { choice, reason, expected } = draft
  const save = useApiChange('POST /api/reviews', shownByReviews)
  const submit = () => {
    const saving = save.mutateAsync({
      query: { project_id },
      body: {
        request_id,
        scorer_name,
        agrees: choice === 'agree',
        ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
        ...(score_label === 'unscored' ? { expected_label: expected } : {}),
      },
    })
    // Also if the page has been left. Errors are shown below.
    saving.then(
      () => setDraft(undefined),
      () => undefined,
    )
  }
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
            aria-label="Expected label"
            value={expected}
            onChange={(value) => setDraft({ ...draft, expected: value })}
            data={['safe', 'unsafe']}
          />
        ) : null}
        <Textarea
          label="Comment"
          autosize
          minRows={2}
          maxLength={4_000}
          size="xs"
          value={reason}
          onChange={(event) => setDraft({ ...draft, reason: event.currentTarget.value })}
          autoFocus={takesFocus}
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
