/** Result of one check, and what to do. */
export interface Finding {
  /** One word by which runbooks and scripts know it: `topics`, `lag`, … */
  check: string
  /** `skipped`: could not be checked, or does not concern this system; not a separate problem. */
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
