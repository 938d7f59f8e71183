import { Button, Mark, Text } from '@mantine/core'
import { createContext, Fragment, useContext, useState } from 'react'
import { formatCount } from '../../formats/format-number.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import {
  chooseStretches,
  cutByEvidence,
  type Evidence,
  type ScoredEvidence,
  type Segment,
} from './mark-evidence.ts'

/** Whether marks have ids, to which evidence leads: not where a page shows several calls. */
export const MarkIdsContext = createContext(true)

interface MarkedTextProps {
  text: string
  evidence: readonly ScoredEvidence[]
  isInline: boolean
}

/** A text with evidence marked. Line breaks are kept; nothing is interpreted. */
export function MarkedText({ text, evidence, isInline }: MarkedTextProps) {
  const [isWanted, setWanted] = useState(false)
  const stretches = isWanted ? [{ start: 0, end: text.length }] : chooseStretches(text.length, evidence)
  const shown = stretches.reduce((sum, { start, end }) => sum + end - start, 0)
  return (
    <>
      <Text
        size="sm"
        {...(isInline ? { span: true } : { component: 'div' })}
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', unicodeBidi: 'isolate' }}
        dir="auto"
      >
        {stretches.map((stretch, index) => (
          <Fragment key={stretch.start}>
            {index === 0 ? null : <Left units={stretch.start - (stretches[index - 1]?.end ?? 0)} />}
            {cutByEvidence(text, evidence, stretch).map((segment, place) => (
              <SegmentText key={place} segment={segment} />
            ))}
          </Fragment>
        ))}
      </Text>
      {shown === text.length ? null : (
        <Button size="compact-xs" variant="subtle" onClick={() => setWanted(true)}>
          Show all {formatCount(text.length)} characters
        </Button>
      )}
    </>
  )
}

/** Placeholder for the text omitted between two stretches. */
function Left({ units }: { units: number }) {
  return (
    <Text span display="block" size="sm" c="dimmed" my="xs">
      … {formatCount(units)} characters …
    </Text>
  )
}

function SegmentText({ segment: { text, evidence, begins } }: { segment: Segment }) {
  const hasIds = useContext(MarkIdsContext)
  if (evidence.length === 0) return <PlainText text={text} />
  return (
    <Mark
      {...(begins === undefined || !hasIds ? {} : { id: idOf(begins) })}
      tabIndex={-1}
      color="yellow"
      title={evidence.map(titleOf).join(', ')}
    >
      <PlainText text={text} />
    </Mark>
  )
}

function titleOf({ scorer, kind }: ScoredEvidence): string {
  return `${scorer}: ${kind}`
}

/** The id of the element at which a piece of evidence begins. */
export function idOf({ part, pointer, start }: Evidence): string {
  return `at-${part}-${pointer ?? ''}-${Math.max(start, 0)}`
}
