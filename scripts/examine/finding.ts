/** What was looked at, how it is, and what to do about it. */
export interface Finding {
  /** One word, what runbooks and scripts know it by: `topics`, `lag`, … */
  check: string
  /** `skipped`: it could not be looked at, or does not concern this system; not a problem of its own. */
  state: 'ok' | 'warning' | 'problem' | 'skipped'
  what: string
  remedy?: string
}

export const ok = (check: string, what: string): Finding => ({ check, state: 'ok', what })
export const skipped = (check: string, what: string): Finding => ({ check, state: 'skipped', what })
export const warning = (check: string, what: string, remedy: string): Finding => ({
  check,
  state: 'warning',
  what,
  remedy,
})
export const problem = (check: string, what: string, remedy: string): Finding => ({
  check,
  state: 'problem',
  what,
  remedy,
})
