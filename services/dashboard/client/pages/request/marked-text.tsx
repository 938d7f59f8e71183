import { Button, Mark, Text } from '@mantine/core'
import { useState } from 'react'
import { formatCount } from '../../formats/format-number.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import { cutByEvidence, type Evidence, type ScoredEvidence } from './mark-evidence.ts'

/** What is shown of a very long text at first: a browser lays out megabytes for seconds. */
const shownAtFirst = 20_000

interface MarkedTextProps {
  text: string
  evidence: readonly ScoredEvidence[]
  isInline: boolean
}

/** A text with what scorers point at. Line breaks stay; nothing else in it means anything. */
export function MarkedText({ text, evidence, isInline }: MarkedTextProps) {
  const [isWhole, setWhole] = useState(
    () => text.length <= shownAtFirst || evidence.some(({ start }) => start >= shownAtFirst),
  )
  const shown = isWhole ? text : text.slice(0, shownAtFirst)
  return (
    <>
      <Text
        size="sm"
        {...(isInline ? { span: true } : { component: 'div' })}
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', unicodeBidi: 'isolate' }}
        dir="auto"
      >
        {cutByEvidence(shown, evidence).map(({ text: piece, evidence: found }, index) =>
          found.length === 0 ? (
            <PlainText key={index} text={piece} />
          ) : (
            <Mark
              key={index}
              id={idOf(found[0])}
              tabIndex={-1}
              color="yellow"
              title={found.map(titleOf).join(', ')}
            >
              <PlainText text={piece} />
            </Mark>
          ),
        )}
      </Text>
      {isWhole ? null : (
        <Button size="compact-xs" variant="subtle" onClick={() => setWhole(true)}>
          Show all {formatCount(text.length)} characters
        </Button>
      )}
    </>
  )
}

function titleOf({ scorer, kind }: ScoredEvidence): string {
  return `${scorer}: ${kind}`
}

/** The element that shows a piece of evidence; where several begin at one place, the first of them. */
export function idOf(evidence: Evidence | undefined): string {
  return evidence === undefined ? '' : `at-${evidence.part}-${evidence.pointer ?? ''}-${evidence.start}`
}
