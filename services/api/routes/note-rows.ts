import { z } from 'zod'
import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import { severities } from '#schemas/verdicts.ts'
import type { Principal } from '#http/access/principal.ts'
import { mayReadContent } from '../people/authenticate-people.ts'
import type { ProjectDatabase } from '../stores/project-database.ts'
import type { RequestItem } from '../stores/request-store.ts'
import { readRowNotes, requestKeyOf } from '../stores/row-notes.ts'

const line = z.string().nullable()
const previewSchema = z.object({ prompt: line, answer: line })
type Listed = Pick<RequestItem, 'id' | 'project_id' | 'created_at'>

/** Further fields of a request in the list. */
export const rowNoteFields = {
  preview: previewSchema
    .nullable()
    .describe(
      'One line of prompt and answer, at most 160 characters each. Null for users who may not read bodies, without content, and of older calls.',
    ),
  unsafe_scores: z
    .array(
      z.object({
        scorer_name: z.string(),
        severity: z.enum(severities).nullable(),
        kind: z.string().nullable().describe('Kind of evidence; null: none.'),
        is_suppressed: z.boolean(),
        expected_label: z
          .enum(['safe', 'unsafe'])
          .nullable()
          .describe('What the newest review expects; null: not reviewed.'),
      }),
    )
    .describe('The scorers that found it unsafe, worst first.'),
}

type RowNotes = z.output<z.ZodObject<typeof rowNoteFields>>

/** The rows of a page with previews, opened for callers who may read bodies, and failed scores. */
export async function withNotes<T extends Listed>(
  database: ProjectDatabase,
  { principal, sealer }: { principal: Principal; sealer: Sealer },
  items: readonly T[],
): Promise<(T & RowNotes)[]> {
  const notes = await readRowNotes(database, items, { withPreviews: mayReadContent(principal) })
  return items.map((item) => {
    const { preview = null, unsafe_scores = [] } = notes.get(requestKeyOf(item)) ?? {}
    return {
      ...item,
      preview: preview === null ? null : openPreview(preview, item, sealer),
      unsafe_scores,
    }
  })
}

function openPreview(
  sealed: SealedBytes,
  { project_id, id }: Listed,
  sealer: Sealer,
): z.output<typeof previewSchema> | null {
  try {
    const json = sealer.open(sealed, sealedIdentity(project_id, id, 'call_preview')).toString('utf8')
    return previewSchema.parse(JSON.parse(json))
  } catch (error) {
    // A missing key must not fail the list: the page of the call says so.
    if (error instanceof PermanentError) return null
    throw error
  }
}
