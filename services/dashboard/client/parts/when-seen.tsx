import { Box } from '@mantine/core'
import { useIntersection } from '@mantine/hooks'
import { useState, type ReactNode } from 'react'

/** Makes its content once its place is on the screen: not everybody needs what is large and far down. */
export function WhenSeen({ height, children }: { height: number; children: ReactNode }) {
  const { ref, entry } = useIntersection<HTMLDivElement>()
  const [isSeen, setIsSeen] = useState(false)
  if (entry?.isIntersecting === true && !isSeen) setIsSeen(true)
  return isSeen ? children : <Box ref={ref} h={height} />
}
