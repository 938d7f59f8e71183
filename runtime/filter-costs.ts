import { isCelList, isCelMap, type CelValue } from '@bufbuild/cel'
import { tooMuchTogether, type FilterShare } from './filter-allowance.ts'

/** Maximum length of a text that a pattern is matched with, in characters. */
export const maxTextLength = 4_096

/**
 * What one evaluation may cost apart from its patterns. A unit is one character read in the slowest way,
 * about 10 ns, so the maximum is about 10 ms. Sixty comparisons of quoted texts cost a hundredth; `contains`
 * in the largest tool argument (64 Ki) a fifteenth. Cost is not time, so that the same event gives the same
 * result on a busy machine.
 */
const maxCost = 1_000_000
/** Comparing or copying an element takes about 160 ns; a list or map among them three times as much. */
const elementCost = 16
const containerCost = 32
/**
 * What its patterns may cost: their instructions (the steps named in error messages) times the characters
 * read, that is four patterns of 34 instructions on the longest texts. One unit takes 180 ns where the engine
 * follows all threads, so the maximum is about 100 ms. Usual patterns take a hundredth: 1 ms for
 * `(?i)(password|secret|token|api[_-]?key)` on 4,096 characters.
 */
const maxMatchCost = 4 * 34 * maxTextLength
/** One unit of matching, in the units of {@link maxCost}. */
const matchUnit = 18
/**
 * V8 searches this much of a text in one pass. It may compare the rest again at each position, at 1.3 ns a
 * character.
 */
const onePassLength = 200
const comparedAgain = 8

/** Throws when the evaluation has cost too much. */
export type Draw = (cost: number) => void

export interface FilterBudget {
  draw: Draw
  /** Charges a match of a text with a pattern of that many instructions. Throws as `draw` does. */
  drawMatch(characters: number, instructions: number): void
  /** The error of the evaluation even where CEL hides it: `true || <an error>` is true. */
  readonly exceeded: Error | undefined
}

/** The budget of one evaluation, which also draws on its share of a common allowance. */
export function createFilterBudget(share?: FilterShare): FilterBudget {
  let left = maxCost
  let matchesLeft = maxMatchCost
  let exceeded: Error | undefined
  const fail = (problem: string): never => {
    exceeded ??= new Error(problem)
    throw exceeded
  }
  const drawTogether = (cost: number) => {
    if (share?.take(cost) === false) fail(tooMuchTogether)
  }
  return {
    draw(cost) {
      left -= cost
      if (left < 0)
        fail(
          `the expression reads too much text: at most ${maxCost} characters in all, and those that it joins or changes count more than once`,
        )
      drawTogether(cost)
    },
    drawMatch(characters, instructions) {
      matchesLeft -= characters * instructions
      if (matchesLeft < 0) fail(tooMuchMatched(instructions))
      drawTogether(characters * instructions * matchUnit)
    },
    get exceeded() {
      return exceeded
    },
  }
}

function tooMuchMatched(instructions: number): string {
  const alone = Math.min(maxTextLength, Math.floor(maxMatchCost / instructions))
  return `matches reads too much text: a pattern of ${instructions} steps reads at most ${alone} characters, and the characters that all patterns read, times their steps, come to ${maxMatchCost} at most`
}

/** Draws the cost of a function on `values`: its receiver and arguments. */
type Cost = (values: readonly CelValue[], draw: Draw) => void

const read: Cost = (values, draw) => draw(values.reduce<number>((sum, value) => sum + textLengthOf(value), 0))
/** Rewriting takes one character at a time, 15 to 25 ns each. */
const rewrite: Cost = ([text = null], draw) => draw(2 * textLengthOf(text))
const search: Cost = ([text = null, sought = null], draw) =>
  draw(textLengthOf(text) * (1 + Math.max(0, textLengthOf(sought) - onePassLength) / comparedAgain))
/** Searching backwards, V8 compares the whole text at each position. */
const searchBackwards: Cost = ([text = null, sought = null], draw) =>
  draw(textLengthOf(text) * (1 + textLengthOf(sought) / comparedAgain))
/** Parsing digits takes more than linear time: 60 ns each for 64 Ki. */
const parseInteger: Cost = ([text = null], draw) =>
  draw(textLengthOf(text) * (1 + textLengthOf(text) / 8_192))
const compare: Cost = ([left = null, right = null], draw) => drawComparison(left, right, draw)
const lookUp: Cost = ([sought = null, container = null], draw) => {
  if (isCelList(container)) {
    draw(container.size * elementCost)
    for (const element of container) drawComparison(element, sought, draw)
  } else if (isCelMap(container) && typeof sought !== 'string') draw(container.size)
}

/** Functions that read the whole of a value. Others take constant time. */
export const filterCosts: ReadonlyMap<string, Cost> = new Map<string, Cost>([
  ...['_+_', 'startsWith', 'endsWith', 'charAt', 'substring'].map((name) => [name, read] as const),
  ...['string', 'double', 'bool', 'timestamp', 'duration'].map((name) => [name, read] as const),
  ...['lowerAscii', 'upperAscii', 'trim', 'size'].map((name) => [name, rewrite] as const),
  ...['_==_', '_!=_', '_<_', '_<=_', '_>_', '_>=_'].map((name) => [name, compare] as const),
  ...['int', 'uint'].map((name) => [name, parseInteger] as const),
  ...['contains', 'indexOf'].map((name) => [name, search] as const),
  ['lastIndexOf', searchBackwards],
  ['@in', lookUp],
])

/** The cost of copying that many elements. */
export function costOfElements(count: number): number {
  return count * elementCost
}

/** Equality compares texts up to the shorter length, and containers only if their sizes are equal. */
function drawComparison(left: CelValue, right: CelValue, draw: Draw): void {
  if (
    isCelList(left)
      ? isCelList(right) && left.size === right.size
      : isCelMap(left) && isCelMap(right) && left.size === right.size
  )
    drawAll(left, draw)
  else draw(Math.min(textLengthOf(left), textLengthOf(right)))
}

/** Draws for every value in `container`, at any depth. */
function drawAll(container: CelValue, draw: Draw): void {
  const open = [container]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const inside = isCelList(value) || isCelMap(value) ? value : undefined
    draw(inside === undefined ? textLengthOf(value) : containerCost + inside.size * elementCost)
    for (const element of inside?.values() ?? []) open.push(element)
  }
}

function textLengthOf(value: CelValue): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0
}
