import { sourceKeys, wordsOfSource } from '#capture/tool-results.ts'
import { alongNames, type Path } from '#detectors/along-names.ts'

/** Where a text stands, by the names on the way to it. */
export interface TextPosition {
  /** The body's member that it is, or is inside. */
  top: string
  /** That member's own member that it is, or is inside. */
  second: string
  /** Number of names. */
  depth: number
  /** Its name, or that of the list that contains it. */
  label: string
  isThought: boolean
  /** Inside a source cited by an answer, and part of that source's words. */
  isOfSource: boolean
  isWordsOfSource: boolean
}

const ofBody: TextPosition = {
  top: '',
  second: '',
  depth: 0,
  label: '',
  isThought: false,
  isOfSource: false,
  isWordsOfSource: false,
}

/** Computes where texts stand. */
export function createTextPositions(): (text: Path) => TextPosition {
  return alongNames(ofBody, within)
}

const thought = /^(?:reasoning|thinking|thought)|^summary$/i

function within(holder: TextPosition, name: string): TextPosition {
  const isOfSource = holder.isOfSource || sourceKeys.has(name)
  return {
    top: holder.depth === 0 ? name : holder.top,
    second: holder.depth === 1 ? name : holder.second,
    depth: holder.depth + 1,
    label: /^\d*$/.test(name) ? holder.label : name,
    isThought: holder.isThought || thought.test(name),
    isOfSource,
    isWordsOfSource: holder.isWordsOfSource || (isOfSource && isSourceText(name)),
  }
}

function isSourceText(name: string): boolean {
  return wordsOfSource.has(name) || name === 'renderedContent'
}
