import type { Credentials, Settings } from '#schemas/destinations.ts'
import type { Notice } from './notice.ts'
import { renderJiraComment, renderJiraIssue, renderJiraSearch } from './render-jira.ts'
import type { Rendered } from './rendered.ts'
import type { HttpAnswer } from './send-http.ts'

interface FoundIssue {
  key: string
  fields?: { comment?: { comments?: unknown[] } }
}

/**
 * One issue for each finding or rule: an event makes it, or is a comment on it. An event that was already
 * written there is not written again, so that a repeated attempt changes nothing. A resolved finding without
 * an issue needs none.
 */
export async function sendToJira(
  notice: Notice,
  settings: Settings<'jira'>,
  credentials: Credentials<'jira'>,
  post: (rendered: Rendered) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  const searched = await post(renderJiraSearch(notice, settings, credentials))
  if (searched.status === null || searched.status < 200 || searched.status >= 300) return searched
  const issue = readIssue(searched.body)
  if (issue === undefined && (notice.action === 'resolve' || notice.action === 'acknowledge')) return searched
  if (issue === undefined) return post(renderJiraIssue(notice, settings, credentials))
  const isThere = JSON.stringify(issue.fields?.comment?.comments ?? []).includes(notice.id)
  if (isThere || opened(notice)) return searched
  return post(renderJiraComment(notice, settings, credentials, issue.key))
}

/** The event that makes an issue: the issue is there because an earlier attempt made it. */
function opened({ event }: Notice): boolean {
  return event === 'finding_opened'
}

/** Undefined: no issue, or no answer of Jira's search. */
function readIssue(body: Buffer): FoundIssue | undefined {
  try {
    const { issues } = JSON.parse(body.toString('utf8')) as { issues?: FoundIssue[] }
    return issues?.find(({ key }) => typeof key === 'string')
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
