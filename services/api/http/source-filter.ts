import { z } from 'zod'
import { textField } from '#http/fields.ts'
import { invalidInput } from '#http/problem.ts'

/** Where calls must come from, as stores take it. Neither: every source. */
export interface SourceFilter {
  source?: string | undefined
  /** Every source but this one. */
  withoutSource?: string | undefined
}

interface SourceQuery {
  source?: string | undefined
  include_redteam?: 'true' | 'false' | undefined
}

/** Says the same on every route; only what an absent one means differs: records are all there, reports are of the application's own calls. */
function createSourceFilter(includesRedteam: boolean) {
  return {
    fields: {
      source: textField(32).optional().describe('Calls of this source alone; `redteam`: probes.'),
      include_redteam: z
        .enum(['true', 'false'])
        .optional()
        .describe(
          `Whether the red team's probes are among them. Absent: \`${includesRedteam}\`, or what \`source\` asks for.`,
        ),
    },

    /** Throws 422 where one leaves out what the other asks for. */
    read({ source, include_redteam }: SourceQuery): SourceFilter {
      if (source === 'redteam' && include_redteam === 'false') {
        throw invalidInput([{ path: 'include_redteam', message: 'leaves out what source asks for' }])
      }
      if (source !== undefined) return { source }
      const isIncluded = include_redteam === undefined ? includesRedteam : include_redteam === 'true'
      return isIncluded ? {} : { withoutSource: 'redteam' }
    },
  }
}

/** Of records and the counts of them (specification 4.1): every source unless asked otherwise. */
export const recordSources = createSourceFilter(true)
/** Of reports: every source but the red team unless asked otherwise. */
export const reportSources = createSourceFilter(false)
