import { z } from 'zod'
import { idField, textField, timeField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { calibrate } from '../calibration/calibrate.ts'
import { refuseEndBeforeStart } from '../http/time-range.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { readReviewed } from '../stores/read-reviewed.ts'

const count = z.number().int()
const share = z
  .object({ rate: z.number(), low: z.number(), high: z.number() })
  .nullable()
  .describe('With its 95 % interval (Wilson). Null: nothing to count.')

const calibrationSchema = z.object({
  scorers: z.array(
    z.object({
      scorer_name: z.string(),
      reviewed: count.describe('Scores that were reviewed; the newest review of each counts.'),
      false_alarms: count,
      missed: count.describe('`safe` or `unscored`, and found unsafe by people.'),
      precision: share.describe('Of the reviewed `unsafe` scores, those that people found unsafe.'),
      recall: share.describe(
        'Of the reviewed scores that people found unsafe, those that the scorer called `unsafe`. What nobody reviewed is not in it.',
      ),
      suggested_threshold: z
        .object({
          fail_at: z.number().describe('On the scale of `score_value`, 1 to 5.'),
          reviewed: count.describe('Reviewed scores with a value.'),
          precision: share,
          recall: share,
        })
        .nullable()
        .describe(
          'The value with the best precision whose recall is at most 5 points below that of the labels as given. Null with fewer than 20 reviewed scores that have a value, or if all of them are safe or unsafe.',
        ),
    }),
  ),
})

/** How far people agree with each scorer in this project, and what threshold they would want. */
export function calibrationRoutes({ databases }: { databases: ProjectDatabases }): Route[] {
  return [
    route({
      access: 'read',
      tag: 'Reviews',
      method: 'get',
      path: '/api/scorers/calibration',
      summary:
        'Precision, recall and a suggested threshold of each scorer, by the newest 50,000 reviews. Nothing is changed by it.',
      query: z.strictObject({
        project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
        scorer_name: textField(100).optional(),
        start: timeField.optional().describe('Start of the range of review times.'),
        end: timeField.optional().describe('End of the range, exclusive.'),
      }),
      polled: true,
      reply: { status: 200, description: 'Figures by scorer.', schema: calibrationSchema },
      async handle({ principal, query }) {
        refuseEndBeforeStart(query)
        const database = databases.ofOne(principal, query.project_id)
        return taggedJson({ scorers: calibrate(await readReviewed(database, query)) })
      },
    }),
  ]
}
