import { findMatches } from '../find-matches.ts'

/** A turn of a scripted dialogue in which an assistant is glad to help. */
const gladly =
  /^\W{0,3}(?:assistant|ai|model|chatbot|bot)\s?:\s?(?:sure|of course|gladly|certainly|absolutely|no problem)\b/gim
/** Transcripts of support have a few. */
const minTurns = 8

/** The scripted turns of a text in which an assistant always complies; null if there are few. */
export function findScriptedTurns(text: string): { start: number; end: number } | null {
  const turns = findMatches(text, gladly, minTurns)
  const last = turns.at(-1)
  if (turns.length < minTurns || last === undefined) return null
  return { start: turns[0]?.index ?? 0, end: last.index + last[0].length }
}
