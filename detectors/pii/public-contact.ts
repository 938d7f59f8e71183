import type { CallText } from '../call-text.ts'

/** What stands before the address of a program's author: fields of package files, trailers of commits. */
const authorBefore =
  /(?:["'\b]?(?:authors?|maintainers?|contributors?|developers?|publisher|packager|creators?)["']?\s{0,3}[:=]|\bauthor_?email["']?\s{0,3}[:=]|\b[a-z]{1,8}\.(?:email|authors?)\s{0,3}=|<(?:author|developer|email)>|\b(?:author|committer|commit|signed-off-by|co-authored-by|reported-by|reviewed-by|tested-by|acked-by|suggested-by|merged? by)\s?:|\bcopyright\b|©|\(c\) ?(?:19|20)\d\d|\bmaintained by\b|^From [\da-f]{40} )[^\n]{0,160}(?:\n[^\n]{0,80}){0,2}$/i
/** What public documents of a project speak of. */
const projectWords: readonly RegExp[] = [
  /\bpull requests?\b/i,
  /\bmaintain(?:ers?|ed by)\b/i,
  /\bcontribut(?:ing|ors?|ions?)\b|CONTRIBUTING/,
  /\bvulnerabilit(?:y|ies)\b/i,
  /\breport(?:ing)? (?:an? |any )?(?:security |potential |suspected )?(?:issue|bug|vulnerabilit)/i,
  /\b(?:security policy|supported versions|responsible disclosure)\b/i,
  /\b(?:code of conduct|contributor covenant|community leaders)\b/i,
  /\b(?:github|gitlab)\.com\/|\bbitbucket\.org\//i,
  /\b(?:MIT|Apache|BSD|GPL|MPL|ISC)[- ](?:\d[\d.]* )?licen[sc]e/i,
  /\brepositor(?:y|ies)\b/i,
  /\bopen[- ]source\b/i,
  /\b(?:npm|pip|cargo|gem|brew|go|composer|yarn|pnpm) (?:install|get|add|require|i)\b/i,
  /\b(?:changelog|release notes|issue tracker|bug reports?)\b/i,
]
const minProjectWords = 2
const reach = 300

/** True for the e-mail address at `start` of a program's author or a project's maintainer. */
export function isPublicContact(given: CallText, start: number): boolean {
  const before = given.text.slice(Math.max(0, start - reach), start)
  return authorBefore.test(before) || isProjectDocument(given)
}

/** A file of a public project, read by a tool: its readme, its policies, its licence. */
function isProjectDocument({ speaker, text }: CallText): boolean {
  if (speaker !== 'tool') return false
  return projectWords.filter((word) => word.test(text)).length >= minProjectWords
}
