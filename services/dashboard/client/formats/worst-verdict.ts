const labels = [null, 'safe', 'unscored', 'unsafe'] as const
const severities = [null, 'medium', 'high', 'critical'] as const

/** The verdict of one score, or of all of a call. A null label: none yet. */
export interface Verdict {
  label: (typeof labels)[number]
  severity: (typeof severities)[number]
}

/** The worse label and the worse severity, each on its own, as the sink computes a call's. */
export function worseVerdict(one: Verdict, other: Verdict): Verdict {
  return {
    label: worse(labels, one.label, other.label),
    severity: worse(severities, one.severity, other.severity),
  }
}

/** Sorts verdicts, worst first. */
export function byGravity(one: Verdict, other: Verdict): number {
  return gravityOf(other) - gravityOf(one)
}

function gravityOf({ label, severity }: Verdict): number {
  return labels.indexOf(label) * severities.length + severities.indexOf(severity)
}

function worse<T>(order: readonly T[], one: T, other: T): T {
  return order.indexOf(one) >= order.indexOf(other) ? one : other
}
