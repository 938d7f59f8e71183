import { Accordion, SimpleGrid, Text } from '@mantine/core'
import { unscoredClasses } from '#schemas/unscored.ts'
import { byGravity } from '../../formats/worst-verdict.ts'
import { classWords } from '../../formats/verdict-words.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import styles from './findings.module.css'
import type { Evidence } from './mark-evidence.ts'
import { verdictOf, type RequestDetail, type Score } from './request-detail.ts'
import { ScoreCard } from './score-card.tsx'

interface ScoreGroupsProps {
  request: RequestDetail
  scores: readonly Score[]
  onSeek: ((evidence: Evidence) => void) | undefined
}

/** What needs attention first. */
const classes = unscoredClasses.toReversed()

/** What scorers found, worst first. */
export function UnsafeScores({ request, scores, onSeek }: ScoreGroupsProps) {
  const unsafe = scores.filter(({ score_label: label }) => label === 'unsafe')
  if (unsafe.length === 0) return null
  return (
    <SimpleGrid className={styles['first']} cols={{ base: 1, md: Math.min(unsafe.length, 2) }} spacing="sm">
      {unsafe
        .toSorted((one, other) => byGravity(verdictOf(one), verdictOf(other)))
        .map((score) => (
          <ScoreCard key={score.id} request={request} score={score} onSeek={onSeek} />
        ))}
    </SimpleGrid>
  )
}

/** The other scores: decided ones, then the rest by what their reason says of the call. */
export function ScoreGroups({ request, scores, onSeek }: ScoreGroupsProps) {
  const cardOf = (score: Score) => (
    <ScoreCard key={score.id} request={request} score={score} onSeek={onSeek} />
  )
  const groups = classes
    .map((name) => ({ name, own: scores.filter(({ unscored_class: of }) => of === name) }))
    .filter(({ own }) => own.length > 0)
  return (
    <>
      {scores
        .filter(({ unscored_class: of, score_label: label }) => of === null && label !== 'unsafe')
        .map(cardOf)}
      {groups.length === 0 ? null : (
        <Accordion multiple variant="contained" order={3}>
          {groups.map(({ name, own }) => (
            <Accordion.Item key={name} value={name}>
              <Accordion.Control>
                <Text size="sm" fw={600}>
                  {classWords[name]} ({own.length})
                </Text>
                <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  <PlainText text={own.map(({ scorer_name }) => scorer_name).join(', ')} />
                </Text>
              </Accordion.Control>
              <Accordion.Panel>{own.map(cardOf)}</Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
    </>
  )
}
