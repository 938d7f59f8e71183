import { fieldAt, listOf, objectOf, type JsonObject } from '../json.ts'
import { entryAt, growing, inOrder, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

interface Candidate {
  fields: Growing
  role: unknown
  parts: JsonObject[]
}

/** Google's generateContent: every chunk is an answer of its own; parts are appended, the last of everything else stands. */
export function createCandidateAssembly(): StreamAssembly {
  const top = growing()
  const candidates = new Map<number, Candidate>()

  const addCandidate = (given: unknown) => {
    const { content, ...rest } = objectOf(given) ?? {}
    const candidate = entryAt(candidates, rest['index'], () => ({
      fields: growing(),
      role: 'model',
      parts: [],
    }))
    Object.assign(candidate.fields, rest)
    candidate.role = fieldAt(content, 'role') ?? candidate.role
    for (const part of listOf(fieldAt(content, 'parts'))) addPart(candidate.parts, objectOf(part) ?? {})
  }

  return {
    add(chunk) {
      for (const [name, value] of Object.entries(chunk)) {
        if (name === 'candidates') listOf(value).forEach(addCandidate)
        else top[name] = value
      }
    },
    body: () => ({
      ...top,
      candidates: inOrder(candidates).map(({ fields, role, parts }) => ({
        content: { role, parts },
        ...fields,
      })),
    }),
    ended: () =>
      candidates.size > 0 &&
      inOrder(candidates).every(({ fields }) => typeof fields['finishReason'] === 'string'),
  }
}

/** Text goes on where the part before is text of the same kind (thoughts are marked); anything else is a part of its own. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1)
  const [before, text] = [last?.['text'], part['text']]
  const continues =
    typeof before === 'string' && typeof text === 'string' && last?.['thought'] === part['thought']
  if (continues) parts[parts.length - 1] = { ...last, ...part, text: before + text }
  else parts.push(part)
}
