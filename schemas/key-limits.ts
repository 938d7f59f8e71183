/** How much is recorded of a key's calls. */
export const captureLevels = ['full', 'metadata', 'none'] as const
export type CaptureLevel = (typeof captureLevels)[number]

/** What a gateway does with a call whose cost it cannot check. */
export const unknownBudgetChoices = ['stop', 'allow'] as const
export type WhenUnknown = (typeof unknownBudgetChoices)[number]

/** What a key records with its calls, and what it may do. */
export interface KeyLimits {
  /** Recorded with calls that name no user. */
  user: string | null
  /** Recorded as the metadata label `team`, unless the call has one. */
  team: string | null
  /** Names of models, or beginnings that end in `*`. Null: any. */
  models: readonly string[] | null
  capture: CaptureLevel
  ratePerMinute: number | null
  monthlyBudgetUsd: number | null
  whenUnknown: WhenUnknown
}

/** The limits of a key without any. */
export const noLimits: KeyLimits = {
  user: null,
  team: null,
  models: null,
  capture: 'full',
  ratePerMinute: null,
  monthlyBudgetUsd: null,
  whenUnknown: 'stop',
}

/** Whether a list of names and beginnings with `*` has this model. */
export function listsModel(models: readonly string[], model: string): boolean {
  return models.some((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : name === model))
}
