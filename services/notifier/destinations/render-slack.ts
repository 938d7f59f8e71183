import type { Credentials } from '#schemas/destinations.ts'
import { cut, disarm } from './disarm.ts'
import type { Notice } from './notice.ts'
import { jsonTo, type Rendered } from './rendered.ts'

/** Limits of Block Kit: a header's text, a section's text, and a field's. */
const max = { header: 150, section: 3_000, field: 2_000, fields: 10 } as const

/**
 * An incoming webhook's message in Block Kit. Text of callers is escaped in every object, so that no
 * mention and no link can begin.
 */
export function renderSlack(notice: Notice, { url }: Credentials<'slack'>): Rendered {
  const title = escapeMarkup(disarm(notice.title))
  const fields = notice.facts.slice(0, max.fields).map(([name, value]) => ({
    type: 'mrkdwn',
    text: cut(`*${name}*\n${escapeStyle(escapeMarkup(disarm(value)))}`, max.field),
    verbatim: true,
  }))
  const quotes = notice.quotes.map(([name, text]) => ({
    type: 'section',
    text: {
      type: 'plain_text',
      text: cut(`${name}: ${escapeMarkup(disarm(text))}`, max.section),
      emoji: false,
    },
  }))
  const blocks = [
    { type: 'header', text: { type: 'plain_text', text: cut(title, max.header), emoji: false } },
    ...(fields.length === 0 ? [] : [{ type: 'section', fields }]),
    ...quotes,
    ...(notice.link === null
      ? []
      : [
          {
            type: 'actions',
            elements: [
              { type: 'button', text: { type: 'plain_text', text: 'Open in Sluice' }, url: notice.link },
            ],
          },
        ]),
  ]
  return jsonTo(url, {
    // Shown in notifications, and read as mrkdwn there.
    text: escapeStyle(title),
    blocks,
    unfurl_links: false,
    unfurl_media: false,
  })
}

/** The three characters that Slack reads as markup, in every kind of text. */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A word joiner keeps `*_~` and backticks from styling what follows. */
function escapeStyle(text: string): string {
  return text.replace(/[*_~`]/g, (mark) => `\u2060${mark}`)
}
