const labels = [null, 'safe', 'unscored', 'unsafe'] as const
const severities = [null, 'medium', 'high', 'critical'] as const

/** What one score, or all scores of a call, say. A null label: nothing yet. */
export interface Verdict {
  label: (typeof labels)[number]
  severity: (typeof severities)[number]
}

/** Of two verdicts on a call the worse label and the worse severity, each by itself: what the sink keeps of a call, too. */
export function worseVerdict(one: Verdict, other: Verdict): Verdict {
  return {
    label: worse(labels, one.label, other.label),
    severity: worse(severities, one.severity, other.severity),
  }
}

/** Orders verdicts, the worst first. */
export function byGravity(one: Verdict, other: Verdict): number {
  return gravityOf(other) - gravityOf(one)
}

function gravityOf({ label, severity }: Verdict): number {
  return labels.indexOf(label) * severities.length + severities.indexOf(severity)
}

function worse<T>(order: readonly T[], one: T, other: T): T {
  return order.indexOf(one) >= order.indexOf(other) ? one : other
}
