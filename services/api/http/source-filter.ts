import { z } from 'zod'
import { textField } from '#http/fields.ts'
import { invalidInput } from '#http/problem.ts'

/** The source that calls must have. Neither field: any source. */
export interface SourceFilter {
  source?: string | undefined
  /** Any source but this one. */
  withoutSource?: string | undefined
}

interface SourceQuery {
  source?: string | undefined
  include_redteam?: 'true' | 'false' | undefined
}

/**
 * The same on every route but for the default: records include the red team, reports are about the
 * application's calls.
 */
function createSourceFilter(includesRedteam: boolean) {
  return {
    fields: {
      source: textField(32).optional().describe('Only calls of this source; `redteam`: probes.'),
      include_redteam: z
        .enum(['true', 'false'])
        .optional()
        .describe(
          `Whether to include the red team's probes. Absent: \`${includesRedteam}\`, or by \`source\`.`,
        ),
    },

    /** Throws 422 where one parameter excludes what the other selects. */
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

/** For records and their counts (specification 4.1): every source by default. */
export const recordSources = createSourceFilter(true)
/** For reports: every source but the red team by default. */
export const reportSources = createSourceFilter(false)
