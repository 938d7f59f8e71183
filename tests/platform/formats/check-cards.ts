import { createRequire } from 'node:module'
import { join } from 'node:path'

interface CardsLibrary {
  Versions: { v1_4: unknown }
  SerializationContext: new (version: unknown) => {
    eventCount: number
    getEventAt(index: number): { message: string }
  }
  AdaptiveCard: new () => {
    parse(card: object, context: object): void
    validateProperties(): { validationEvents: { message: string }[] }
  }
}

/** What Microsoft's own renderer finds wrong with cards of version 1.4. */
export function problemsOfCards(folder: string, messages: readonly object[]): string[] {
  const library = createRequire(import.meta.url)(
    join(folder, 'dist', 'adaptivecards.min.js'),
  ) as unknown as CardsLibrary
  return messages.flatMap((message) => {
    const { attachments } = message as { attachments: { content: object }[] }
    return attachments.flatMap(({ content }) => problemsOf(library, content))
  })
}

function problemsOf(
  { Versions, SerializationContext, AdaptiveCard }: CardsLibrary,
  content: object,
): string[] {
  const context = new SerializationContext(Versions.v1_4)
  const card = new AdaptiveCard()
  card.parse(content, context)
  const parsed = Array.from({ length: context.eventCount }, (_, index) => context.getEventAt(index).message)
  return [...parsed, ...card.validateProperties().validationEvents.map(({ message }) => message)]
}
