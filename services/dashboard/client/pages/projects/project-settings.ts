import type { UseFormReturnType } from '@mantine/form'
import type { Answer } from '../../api/call-api.ts'

type Project = Answer<'GET /api/projects/{id}'>

/** The settings as form values: an empty field is ''. */
export interface Settings {
  name: string
  retentionDays: number | ''
  zeroRetention: boolean
  mask: boolean
  judgeMode: Project['judge_mode']
  judgeUsd: number | ''
  /** Percent of calls by scorer; unlisted scorers score all. */
  sampling: { scorer: string; percent: number | '' }[]
  costAlertUsd: number | ''
  quotaWarningPercent: number | ''
  metadataKeys: string[]
}

export type SettingsForm = UseFormReturnType<Settings>

export function readSettings(project: Project): Settings {
  return {
    name: project.name,
    retentionDays: project.retention_days ?? '',
    zeroRetention: project.zero_content_retention,
    mask: project.mask,
    judgeMode: project.judge_mode,
    judgeUsd: project.judge_usd_per_period ?? '',
    sampling: Object.entries(project.sampling).map(([scorer, share]) => ({
      scorer,
      percent: toPercent(share),
    })),
    costAlertUsd: project.cost_alert_usd ?? '',
    quotaWarningPercent: project.quota_warning_percent ?? '',
    metadataKeys: project.metadata_keys,
  }
}

export function settingsBody(settings: Settings) {
  const orNull = (value: number | '') => (value === '' ? null : value)
  return {
    name: settings.name,
    retention_days: orNull(settings.retentionDays),
    zero_content_retention: settings.zeroRetention,
    mask: settings.mask,
    judge_mode: settings.judgeMode,
    judge_usd_per_period: orNull(settings.judgeUsd),
    sampling: Object.fromEntries(
      settings.sampling.flatMap(({ scorer, percent }) =>
        scorer.trim() === '' || percent === '' ? [] : [[scorer.trim(), percent / 100]],
      ),
    ),
    cost_alert_usd: orNull(settings.costAlertUsd),
    quota_warning_percent: orNull(settings.quotaWarningPercent),
    metadata_keys: settings.metadataKeys,
  }
}

/** 0.07 × 100 is 7.000000000000001. */
function toPercent(share: number): number {
  return Number((share * 100).toFixed(4))
}
