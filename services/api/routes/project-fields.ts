import { z } from 'zod'
import { maxMetadataKeys, metadataKeyPattern } from '#schemas/call-labels.ts'
import { contentDays } from '#schemas/content-retention.ts'
import { tierSchema, type Tier } from '#schemas/tiers.ts'
import { textField } from '#http/fields.ts'
import type { ProjectSettingsInput } from '../stores/project-store.ts'

/** Settings of a project. */
export const projectFields = {
  name: textField(200),
  tier: tierSchema,
  zero_content_retention: z.boolean().describe('Bodies are scored and never kept.'),
  mask: z
    .boolean()
    .describe(
      'What detectors find of personal data and secrets is masked before a call is stored or scored (docs/masking.md). Needs SEARCH_KEY.',
    ),
  retention_days: z
    .number()
    .int()
    .min(1)
    .max(contentDays)
    .nullable()
    .describe(`Bodies are erased after so many days; null: ${contentDays}.`),
  cost_alert_usd: z
    .number()
    .min(0)
    .nullable()
    .describe('A `usage_alert` is raised when the period has cost this much; 0: with the first cost.'),
  quota_warning_percent: z.number().int().min(1).max(100).nullable(),
  judge_mode: z
    .enum(['always', 'uncertain', 'never'])
    .describe(
      'The calls that the judge reads after the detectors: all, those that detectors are unsure of, or none.',
    ),
  judge_usd_per_period: z
    .number()
    .min(0)
    .nullable()
    .describe(
      "Limit of the judge's cost per period in US dollars; null: none. Above it scores are `unscored` (`budget_spent`).",
    ),
  sampling: z
    .record(textField(100), z.number().min(0).max(1))
    .describe(
      'Share of requests scored (0 to 1), by scorer; other scorers score all. Selected by a hash of the request.',
    ),
  metadata_keys: z
    .array(z.string().regex(metadataKeyPattern, 'must be 1 to 64 letters, digits or any of _ . : / -'))
    .max(maxMetadataKeys)
    .refine((keys) => new Set(keys).size === keys.length, 'must not name a key twice')
    .describe(
      'Metadata keys by whose values calls are counted, from the second minute on; alert rules filter by them. Counts outlive the calls: no key whose values name people.',
    ),
}

/** What a new project has unless its creator says otherwise. */
export function projectDefaults(tier: Tier): Omit<ProjectSettingsInput, 'name'> {
  return {
    tier,
    zero_content_retention: false,
    mask: false,
    retention_days: null,
    cost_alert_usd: null,
    quota_warning_percent: null,
    judge_mode: 'always',
    judge_usd_per_period: null,
    sampling: {},
    metadata_keys: [],
  }
}

/** Without undefined members. */
export function definedOf<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
