/** Messages for failed single sign-on. Anybody can craft a link with a code, so only these are shown. */
const failures = new Map(
  Object.entries({
    OIDC_REFUSED: 'The provider did not sign you in. Try again; if it stays so, tell an administrator.',
    OIDC_NOT_BEGUN: 'It was begun in another browser, or took over ten minutes. Try again.',
    OIDC_CLAIM_MISSING:
      'The provider did not say who you are. Tell an administrator: a scope or a claim is missing.',
    OIDC_NO_ROLE: 'None of your groups may use this. Ask an administrator.',
    OIDC_UNAVAILABLE: 'The provider does not answer. Try again later.',
    LOGIN_TAKEN: 'Somebody else here has your login. Ask an administrator.',
    PERSON_DISABLED: 'Your account is disabled. Ask an administrator.',
    INVALID_INPUT: 'The provider gives you a name that nobody can have here. Tell an administrator.',
    API_UNAVAILABLE: 'The API does not answer at the moment. Try again later.',
  }),
)

export function describeSignOnFailure(code: string): string {
  return failures.get(code) ?? 'Try again; if it stays so, tell an administrator.'
}
