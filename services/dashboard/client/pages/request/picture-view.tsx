import { Button, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { Picture } from './read-blocks.ts'

/** No SVG: it is a document. */
const drawn: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
/** Characters of base64, 6 MB of picture. */
const maxLength = 8_000_000
const maxPx = { width: 480, height: 360 }

/** Shows a picture of a body on request. It is drawn from its bytes: nothing is loaded. */
export function PictureView({ picture }: { picture: Picture }) {
  const [isWanted, setWanted] = useState(false)
  if (!drawn.has(picture.type) || picture.data.length > maxLength) return null
  return isWanted ? (
    <Drawing picture={picture} />
  ) : (
    <Button size="compact-xs" variant="default" onClick={() => setWanted(true)}>
      Show image
    </Button>
  )
}

function Drawing({ picture: { type, data } }: { picture: Picture }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    let isLeft = false
    draw(type, data).then(
      (bitmap) => {
        if (!isLeft && canvas.current !== null) paint(canvas.current, bitmap)
      },
      () => setFailed(true),
    )
    return () => {
      isLeft = true
    }
  }, [type, data])
  if (hasFailed) return <Text size="sm">This is not an image that can be shown.</Text>
  return <canvas ref={canvas} role="img" aria-label="Image of the call" width={0} height={0} />
}

async function draw(type: string, data: string): Promise<ImageBitmap> {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
  return createImageBitmap(new Blob([bytes], { type }))
}

function paint(canvas: HTMLCanvasElement, bitmap: ImageBitmap): void {
  const scale = Math.min(1, maxPx.width / bitmap.width, maxPx.height / bitmap.height)
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  bitmap.close()
}
