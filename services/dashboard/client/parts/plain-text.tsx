import { Mark } from '@mantine/core'
import { splitVisible } from '../formats/visible-text.ts'

/** Text that others wrote, as text: what would act or hide is a mark, and no direction reaches out of it. */
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
