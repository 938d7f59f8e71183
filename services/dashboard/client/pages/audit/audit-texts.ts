/** What was done, after the name of who did it. Of others the words of the action itself are shown. */
const verbs: Readonly<Record<string, string>> = {
  'person.signed_in': 'signed in',
  'person.signed_out': 'signed out',
  'person.sign_in_refused': 'was refused at sign-in',
  'person.password_changed': 'changed their password',
  'person.password_reset': 'reset a password',
  'person.logins_ended': 'ended sessions',
  'person.linked': 'linked a person to the identity provider',
  'project_scorer.created': 'created a scorer',
  'project_scorer.changed': 'changed a scorer',
  'project_scorer.deleted': 'deleted a scorer',
  'scorer.settings_changed': 'changed the settings of a scorer',
  'scorer_preview.ordered': 'tried a scorer on past calls',
  'scorer_preview.viewed': 'read the trial of a scorer',
  'score_run.ordered': 'ordered a score run',
  'redteam_run.ordered': 'ordered a red-team run',
  'redteam_run.cancel': 'cancelled a red-team run',
  'finding.commented': 'commented on a finding',
  'review.saved': 'reviewed a score',
  'reviews.exported': 'exported reviews',
  'requests.exported': 'exported requests',
  'request.content_viewed': 'read the content of a call',
  'dead_letter.content_viewed': 'read the content of a dead letter',
  'erasure.requested': 'requested an erasure',
  'billing.checkout_opened': 'opened the checkout',
  'billing.portal_opened': 'opened the payment portal',
  'webhook.secret_rotated': 'rotated the secret of a webhook',
  'webhook.deliveries_replayed': 'sent deliveries again',
  'key.created': 'created an API key',
  'key.changed': 'changed an API key',
  'key.revoked': 'revoked an API key',
}

/** `created a webhook`, for an action like `webhook.created`. */
export function describeAction(action: string): string {
  const known = verbs[action]
  if (known !== undefined) return known
  const [noun = '', verb = ''] = action.replaceAll('_', ' ').split('.')
  return `${verb} ${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** A field of an entry's detail, as text. */
export interface DetailLine {
  field: string
  /** Absent: the entry does not say what was before. */
  before?: string
  after: string
}

/** The fields of an entry, those that changed with the value before. */
export function linesOf(detail: Readonly<Record<string, unknown>> | null): DetailLine[] {
  if (detail === null) return []
  const { before, after, ...rest } = detail
  const old = recordOf(before)
  // A finding's entry has both sides whole; others the new values, and the old ones under `before`.
  const fresh = after === undefined ? rest : recordOf(after)
  const beside = after === undefined ? {} : rest
  const lines = Object.entries(fresh).map(([field, value]): DetailLine => {
    const line = { field, after: textOf(value) }
    return field in old ? { ...line, before: textOf(old[field]) } : line
  })
  return [
    ...lines,
    ...Object.entries(beside).map(([field, value]) => ({ field, after: textOf(value) })),
  ].filter(isTelling)
}

/** Not what was set again as it was, nor what a new thing does not have. */
function isTelling({ before, after }: DetailLine): boolean {
  return before === undefined ? !['none', '{}', '[]'].includes(after) : before !== after
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
