import { isCelList, isCelMap, type CelValue } from '@bufbuild/cel'
import { tooMuchTogether, type FilterShare } from './filter-allowance.ts'

/** Characters of a text that is matched with a pattern. */
export const maxTextLength = 4_096

/**
 * What one evaluation may cost but for its patterns. A unit is a character read in the slowest way, about 10 ns, so the worst takes about
 * 10 ms; sixty comparisons of quoted texts cost a hundredth of this, `contains` in the largest argument of a tool (64 Ki) a fifteenth. Not a
 * time: an expression decides the same on the same event, however busy the machine is.
 */
const maxCost = 1_000_000
/** Of an element that is compared or copied: about 160 ns; of a list or a map among them as much again twice. */
const elementCost = 16
const containerCost = 32
/**
 * What its patterns may cost: their instructions (the steps that people are told of) times the characters that they read, four of 34 on the longest
 * texts. One takes 180 ns where the engine has to follow all threads of a pattern, so the worst takes about 100 ms. Usual patterns take a hundredth
 * of this (1 ms for `(?i)(password|secret|token|api[_-]?key)` on 4,096 characters), but which are usual cannot be seen beforehand.
 */
const maxMatchCost = 4 * 34 * maxTextLength
/** A unit of that in the units of {@link maxCost}. */
const matchUnit = 18
/** V8 searches for so much of a text in one pass; the rest it may compare again at each place, at about 1.3 ns a character. */
const onePassLength = 200
const comparedAgain = 8

/** Throws when the evaluation has cost too much. */
export type Draw = (cost: number) => void

export interface FilterBudget {
  draw: Draw
  /** Of matching so many characters with a pattern of so many instructions. Throws as `draw` does. */
  drawMatch(characters: number, instructions: number): void
  /** What the evaluation failed with, whatever it made of it: to CEL `true || <an error>` is true. */
  readonly exceeded: Error | undefined
}

/** The budget of one evaluation, which also draws on the share that it has of what several may cost together. */
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

/** Draws what a function will cost on `values`: those that it is called on and with. */
type Cost = (values: readonly CelValue[], draw: Draw) => void

const read: Cost = (values, draw) => draw(values.reduce<number>((sum, value) => sum + textLengthOf(value), 0))
/** Written for one character at a time: 15 to 25 ns each. */
const rewrite: Cost = ([text = null], draw) => draw(2 * textLengthOf(text))
const search: Cost = ([text = null, sought = null], draw) =>
  draw(textLengthOf(text) * (1 + Math.max(0, textLengthOf(sought) - onePassLength) / comparedAgain))
/** From the end V8 compares all of the text at each place. */
const searchBackwards: Cost = ([text = null, sought = null], draw) =>
  draw(textLengthOf(text) * (1 + textLengthOf(sought) / comparedAgain))
/** Digits become a number in more than linear time: 60 ns each where there are 64 Ki. */
const parseInteger: Cost = ([text = null], draw) =>
  draw(textLengthOf(text) * (1 + textLengthOf(text) / 8_192))
const compare: Cost = ([left = null, right = null], draw) => drawComparison(left, right, draw)
const lookUp: Cost = ([sought = null, container = null], draw) => {
  if (isCelList(container)) {
    draw(container.size * elementCost)
    for (const element of container) drawComparison(element, sought, draw)
  } else if (isCelMap(container) && typeof sought !== 'string') draw(container.size)
}

/** Of the functions that read all of a value. The others take the same time on any. */
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

/** Of copying so many elements. */
export function costOfElements(count: number): number {
  return count * elementCost
}

/** Equality compares two texts up to the shorter one's length, and containers only if they are as large as each other. */
function drawComparison(left: CelValue, right: CelValue, draw: Draw): void {
  if (
    isCelList(left)
      ? isCelList(right) && left.size === right.size
      : isCelMap(left) && isCelMap(right) && left.size === right.size
  )
    drawAll(left, draw)
  else draw(Math.min(textLengthOf(left), textLengthOf(right)))
}

/** Of every value in `container`, however deep. */
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
