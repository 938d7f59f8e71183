import type { Credentials, Settings } from '#schemas/destinations.ts'
import { cut, disarm } from './disarm.ts'
import type { Notice } from './notice.ts'
import { jsonTo, type Rendered } from './rendered.ts'

/** Limits of Jira Cloud: a summary's characters, and its label's. */
const max = { summary: 255, text: 5_000, label: 255 } as const

/** The label by which an issue of the same finding or rule is found again. */
function jiraLabel({ dedupKey }: Notice): string {
  return cut(`sluice-${dedupKey.replace(/[^A-Za-z0-9_-]/g, '-')}`, max.label)
}

/** A new issue. Text stands in text nodes of Atlassian's document format, which read no markup. */
export function renderJiraIssue(
  notice: Notice,
  settings: Settings<'jira'>,
  credentials: Credentials<'jira'>,
): Rendered {
  return toJira(settings, credentials, '/rest/api/3/issue', {
    fields: {
      project: { key: settings.project_key },
      issuetype: { name: settings.issue_type },
      summary: cut(disarm(notice.title), max.summary),
      description: documentOf(notice),
      labels: ['sluice', jiraLabel(notice)],
    },
  })
}

/** A comment on the issue that is there: the finding came again, or is resolved. */
export function renderJiraComment(
  notice: Notice,
  settings: Settings<'jira'>,
  credentials: Credentials<'jira'>,
  issue: string,
): Rendered {
  return toJira(settings, credentials, `/rest/api/3/issue/${encodeURIComponent(issue)}/comment`, {
    body: documentOf(notice),
  })
}

/** The search for the issue with this label. */
export function renderJiraSearch(
  notice: Notice,
  settings: Settings<'jira'>,
  credentials: Credentials<'jira'>,
): Rendered {
  return toJira(settings, credentials, '/rest/api/3/search/jql', {
    jql: `project = "${settings.project_key}" AND labels = "${jiraLabel(notice)}" ORDER BY created DESC`,
    fields: ['comment'],
    maxResults: 1,
  })
}

function toJira(
  settings: Settings<'jira'>,
  { token }: Credentials<'jira'>,
  path: string,
  body: object,
): Rendered {
  const authorization = `Basic ${Buffer.from(`${settings.user}:${token}`).toString('base64')}`
  return jsonTo(settings.url.replace(/\/+$/, '') + path, body, { authorization, accept: 'application/json' })
}

function documentOf(notice: Notice) {
  const facts = [...notice.facts, ['Event', notice.id] as const]
  return {
    type: 'doc',
    version: 1,
    content: [
      paragraph([text(disarm(notice.title), 'strong')]),
      {
        type: 'bulletList',
        content: facts.map(([name, value]) => ({
          type: 'listItem',
          content: [paragraph([text(`${name}: `, 'strong'), text(disarm(value))])],
        })),
      },
      ...notice.quotes.map(([name, quote]) => ({
        type: 'codeBlock',
        content: [text(`${name}: ${disarm(quote)}`)],
      })),
      ...(notice.link === null
        ? []
        : [
            paragraph([
              {
                type: 'text',
                text: 'Open in Sluice',
                marks: [{ type: 'link', attrs: { href: notice.link } }],
              },
            ]),
          ]),
    ],
  }
}

function paragraph(content: readonly object[]) {
  return { type: 'paragraph', content }
}

/** Jira refuses an empty text node. */
function text(value: string, mark?: 'strong') {
  const shown = cut(value, max.text) || '–'
  return { type: 'text', text: shown, ...(mark === undefined ? {} : { marks: [{ type: mark }] }) }
}
