/** What tells apart installations that share a Prometheus, from the outside in. */
export const scopeLabels = ['cluster', 'namespace', 'release'] as const

type ScopeLabel = (typeof scopeLabels)[number]

const selector = /\b((?:sluice|nodejs|process)_\w+|up|ALERTS)\b(?:\{([^}]*)\})?/g

/** A query whose every series is restricted to what the dashboard's variables of these labels select. */
export function scopedTo(expr: string, labels: readonly ScopeLabel[] = scopeLabels): string {
  const scope = labels.map((label) => `${label}=~"$${label}"`)
  return expr.replaceAll(selector, (_whole, name: string, matchers: string | undefined) => {
    const all = [...(matchers === undefined || matchers === '' ? [] : [matchers]), ...scope]
    return all.length === 0 ? name : `${name}{${all.join(',')}}`
  })
}
