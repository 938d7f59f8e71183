import { sourceKeys, wordsOfSource } from '#capture/tool-results.ts'
import { alongNames, type Path } from '../along-names.ts'

/** What the names say of a text that stands under them. */
export interface Standing {
  /** Of the body's members the one that it is, or stands in. */
  top: string
  /** What it is, or stands in, of that member. */
  second: string
  /** How many names there are. */
  depth: number
  /** What it is called, or what the list is called that it stands in. */
  label: string
  isThought: boolean
  /** Whether it is of a source that an answer names, and whether of its words. */
  isOfSource: boolean
  isWordsOfSource: boolean
}

const ofBody: Standing = {
  top: '',
  second: '',
  depth: 0,
  label: '',
  isThought: false,
  isOfSource: false,
  isWordsOfSource: false,
}

/** Tells how texts stand. */
export function standings(): (text: Path) => Standing {
  return alongNames(ofBody, within)
}

const thought = /^(?:reasoning|thinking|thought)|^summary$/i

function within(holder: Standing, name: string): Standing {
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
