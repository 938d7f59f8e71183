const placeholder = /\{\{\s*([a-z_]+(?:\.[a-z_]+)?)\s*\}\}/g

/** Fields of a template besides `data.<name>`. */
export const templateFields = [
  'event',
  'id',
  'created_at',
  'project_id',
  'title',
  'severity',
  'link',
] as const

/**
 * Fills a JSON template. Fields are values, never markup: JSON encodes them. A string that is only a field
 * becomes its value; in other strings a field becomes text. No logic and no functions.
 */
export function fillTemplate(template: string, valueOf: (field: string) => unknown): unknown {
  return walk(JSON.parse(template), (text) => {
    const [whole] = text.matchAll(placeholder)
    if (whole !== undefined && whole[0] === text) return valueOf(whole[1] ?? '')
    return text.replace(placeholder, (_all, name: string) => textOf(valueOf(name)))
  })
}

/**
 * Names that a template uses and no event has; empty when it is fine. Throws SyntaxError if it is no JSON.
 */
export function unknownFields(template: string, dataFields: readonly string[]): string[] {
  const known = new Set<string>([...templateFields, ...dataFields.map((name) => `data.${name}`)])
  const used: string[] = []
  walk(JSON.parse(template), (text) => {
    for (const [, name = ''] of text.matchAll(placeholder)) used.push(name)
    return text
  })
  return [...new Set(used)].filter((name) => !known.has(name))
}

function walk(value: unknown, onText: (text: string) => unknown): unknown {
  if (typeof value === 'string') return onText(value)
  if (Array.isArray(value)) return value.map((one) => walk(one, onText))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one, onText)]))
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
