import { idFromUuid, idToUuid, isId } from '#schemas/ids.ts'
import { invalidInput } from '#http/problem.ts'

/** The position of a polling client: after this score of the transaction, or before all of its scores. */
export interface PollPosition {
  /** A transaction id, which may exceed 2^53. */
  xid: string
  scoreUuid: string
}

const noScore = '00000000-0000-0000-0000-000000000000'
const pattern = /^(\d{1,19})(?:~(scr_[0-9a-z]{26}))?$/

export function positionBefore(xid: string): PollPosition {
  return { xid, scoreUuid: noScore }
}

export function writePollCursor({ xid, scoreUuid }: PollPosition): string {
  const text = scoreUuid === noScore ? xid : `${xid}~${idFromUuid('score', scoreUuid)}`
  return Buffer.from(text).toString('base64url')
}

/** Throws 422 unless it is a `next_since`. */
export function readPollCursor(cursor: string): PollPosition {
  const [, xid, scoreId] = pattern.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (xid === undefined || (scoreId !== undefined && !isId('score', scoreId))) {
    throw invalidInput([{ path: 'since', message: 'is neither `now` nor a next_since of this list' }])
  }
  return scoreId === undefined ? positionBefore(xid) : { xid, scoreUuid: idToUuid(scoreId) }
}
