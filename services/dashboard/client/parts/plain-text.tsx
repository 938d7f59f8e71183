import { Mark } from '@mantine/core'
import { splitVisible } from '../formats/visible-text.ts'

/** Third-party text: invisible characters become marks, and its direction is isolated. */
export function PlainText({ text }: { text: string }) {
  return (
    <bdi>
      {splitVisible(text).map((part, index) =>
        part.kind === 'text' ? (
          part.text
        ) : (
          <Mark key={index} color="orange" title={part.title}>
            {part.text}
          </Mark>
        ),
      )}
    </bdi>
  )
}
