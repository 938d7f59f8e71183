import type { Credentials } from '#schemas/destinations.ts'
import type { Severity } from '#schemas/verdicts.ts'
import { cut, disarm } from './disarm.ts'
import type { Notice } from './notice.ts'
import { jsonTo, type Rendered } from './rendered.ts'

/** Teams refuses a message of over 28 kB. */
const maxText = 1_500

/** Colours of Adaptive Cards. */
const colors: Readonly<Record<Severity, string>> = {
  critical: 'attention',
  high: 'warning',
  medium: 'accent',
}

/**
 * An Adaptive Card for a Teams workflow. All text stands in text runs, which read no Markdown: text blocks
 * and fact sets would make links of it.
 */
export function renderTeams(notice: Notice, { url }: Credentials<'teams'>): Rendered {
  const color = notice.severity === null ? 'default' : colors[notice.severity]
  const body = [
    line([{ text: disarm(notice.title), weight: 'bolder', size: 'medium', color }]),
    ...notice.facts.map(([name, value]) =>
      line([{ text: `${name}: `, weight: 'bolder' }, { text: disarm(value) }]),
    ),
    ...notice.quotes.map(([name, text]) =>
      line([
        { text: `${name}: `, weight: 'bolder' },
        { text: disarm(text), fontType: 'monospace' },
      ]),
    ),
  ]
  const actions =
    notice.link === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open in Sluice', url: notice.link }]
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body,
    actions,
  }
  return jsonTo(url, {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  })
}

function line(runs: readonly ({ text: string } & Record<string, string>)[]) {
  return {
    type: 'RichTextBlock',
    inlines: runs.map(({ text, ...style }) => ({ type: 'TextRun', text: cut(text, maxText), ...style })),
  }
}
