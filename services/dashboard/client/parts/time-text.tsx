import { useEffect, useState } from 'react'
import { formatAgo, formatMoment, formatTime } from '../formats/format-time.ts'

/** A time for people, with the exact moment and zone as title. */
export function TimeText({ at, isAgo = false }: { at: string | null | undefined; isAgo?: boolean }) {
  const now = useNow(isAgo)
  if (at === null || at === undefined) return <>{formatTime(at)}</>
  return (
    <time dateTime={at} title={formatMoment(at)}>
      {isAgo ? formatAgo(at, now) : formatTime(at)}
    </time>
  )
}

/** Updates every half minute, so that "a moment ago" does not go stale. */
function useNow(isMoving: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isMoving) return
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [isMoving])
  return now
}
