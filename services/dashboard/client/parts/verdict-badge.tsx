import { Badge } from '@mantine/core'

type Label = 'safe' | 'unsafe' | 'unscored' | null
type Severity = 'medium' | 'high' | 'critical' | null

const unsafeColors = { critical: 'red.9', high: 'orange.6', medium: 'yellow.6' }

/** A verdict in words, not only in colours. */
export function VerdictBadge({ label, severity }: { label: Label; severity: Severity }) {
  if (label === 'unsafe') {
    return (
      <Badge color={unsafeColors[severity ?? 'medium']} autoContrast w={96}>
        {severity ?? 'unsafe'}
      </Badge>
    )
  }
  return (
    <Badge variant="default" w={96}>
      {label ?? 'pending'}
    </Badge>
  )
}
