import { Badge } from '@mantine/core'
import type { CallVerdict } from '#schemas/call-reading.ts'
import { severityColors } from '../app/theme.ts'
import { verdictWords } from '../formats/verdict-words.ts'

type Label = 'safe' | 'unsafe' | 'unscored' | null
type Severity = 'medium' | 'high' | 'critical' | null

interface VerdictBadgeProps {
  label: Label
  severity: Severity
  /** Of a call: what its scorers say together. Absent: the label of one score. */
  verdict?: CallVerdict | null | undefined
}

/** A verdict in words, not only in colours. */
export function VerdictBadge({ label, severity, verdict }: VerdictBadgeProps) {
  if (label === 'unsafe') {
    return (
      <Badge color={severityColors[severity ?? 'medium']} autoContrast w={96}>
        {severity ?? 'unsafe'}
      </Badge>
    )
  }
  return (
    <Badge variant="default" w={96} px={4}>
      {verdict === undefined || verdict === null ? (label ?? 'pending') : verdictWords[verdict]}
    </Badge>
  )
}
