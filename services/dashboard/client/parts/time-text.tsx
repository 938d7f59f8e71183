import { useEffect, useState } from 'react'
import { formatAgo, formatMoment, formatTime } from '../formats/format-time.ts'

/** A time for people; the exact moment with its zone is its title. */
export function TimeText({ at, isAgo = false }: { at: string | null | undefined; isAgo?: boolean }) {
  const now = useNow(isAgo)
  if (at === null || at === undefined) return <>{formatTime(at)}</>
  return (
    <time dateTime={at} title={formatMoment(at)}>
      {isAgo ? formatAgo(at, now) : formatTime(at)}
    </time>
  )
}

/** Moves on every half minute, so that what was a moment ago does not stay so. */
function useNow(isMoving: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isMoving) return
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [isMoving])
  return now
}
