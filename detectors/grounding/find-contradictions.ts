import { isFunctionWord, stemsOf } from './measure-support.ts'
import { oppositesOf } from './opposites.ts'

/** How an answer contradicts or goes beyond the supplied text, by clauses, numbers, names and opposites. */
export interface Contradictions {
  /** Numbers of the answer that stand nowhere in the request. */
  numbers: number
  /** Numbers that stand there with another unit. */
  units: number
  /** Amounts whose number stands nowhere in the request, where it has another number with the same unit. */
  changed: number
  /** Capitalised words inside sentences that stand nowhere in the request. */
  names: number
  /** Words that the request does not have, where it has their opposite. */
  opposites: number
  /** Clauses that are nearly a clause of the supplied text, one of them denied. */
  denials: number
}

const maxClauses = 60
const maxSuppliedClauses = 300
/** A longer clause is compared by its first words. */
const maxClauseUnits = 600
/** Share of a clause's content words in the supplied clause from which they say the same. */
const sameClause = 0.6
const clauseEnd = /[.!?;\n]\s|,\s(?:and|but|while|whereas)\s|\s(?:and|but)\s/
const denial = /\b(?:not|no|never|none|neither|nor|without|cannot|unable|nobody|nothing)\b|n't\b|n’t\b/i
const number =
  /(?<![\p{L}\d])\d{1,3}(?:[,\u00a0]\d{3}){1,6}(?:\.\d{1,9})?|(?<![\p{L}\d])\d{1,20}(?:\.\d{1,9})?/gu
const unit =
  /^\s?-?(%|percent|million|billion|thousand|days?|weeks?|months?|years?|hours?|minutes?|eur|usd|km|kg|mg|ml)(?!\p{L})/iu
const maxUnitUnits = 12
const name = /(?<=[\p{Ll}\d,;:)]\s)\p{Lu}[\p{L}\p{N}&'’-]{1,40}/gu
const numberWords = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')

interface Clause {
  content: ReadonlySet<string>
  isDenied: boolean
}

/** What the request says, as far as answers are compared with it. */
export interface Source {
  numbers: Set<string>
  units: Set<string>
  clauses: Clause[]
}

export function emptySource(): Source {
  return { numbers: new Set(), units: new Set(), clauses: [] }
}

const maxNumbers = 20_000

/** `isSupplied`: not the question, whose clauses claim nothing. */
export function addSource(source: Source, text: string, isSupplied: boolean): void {
  if (source.numbers.size > maxNumbers) return
  const { numbers, units } = amountsOf(text)
  for (const value of numbers) source.numbers.add(value)
  for (const value of units) source.units.add(value)
  const room = maxSuppliedClauses - source.clauses.length
  if (isSupplied && room > 0) source.clauses.push(...clausesOf(text, room))
}

/** `has`: whether a stem stands anywhere in the request. */
export function findContradictions(
  answer: string,
  source: Source,
  has: (stem: string) => boolean,
): Contradictions {
  const stems = new Set(stemsOf(answer))
  const said = amountsOf(answer)
  const isMissing = (stem: string) => !has(stem)
  const names = new Set((answer.match(name) ?? []).map((word) => stemsOf(word).join(' ')))
  const opposed = [...stems].filter(
    (stem) => isMissing(stem) && [...(oppositesOf(stem) ?? [])].some((opposite) => has(opposite)),
  )
  const isMissingNumber = (value: string) =>
    !source.numbers.has(value) && isMissing(numberWords[Number(value)] ?? value)
  const values = [
    ...said.numbers,
    ...numberWords.flatMap((word, value) => (stems.has(word) ? [String(value)] : [])),
  ]
  const amounts = [...new Set(said.units)]
  const knownUnits = new Set(Array.from(source.units, unitOf))
  const changed = amounts.filter((value) => isMissingNumber(numberOf(value)) && knownUnits.has(unitOf(value)))
  const units = amounts.filter((value) => source.numbers.has(numberOf(value)) && !source.units.has(value))
  return {
    numbers: [...new Set(values)].filter(isMissingNumber).length,
    units: units.length,
    changed: changed.length,
    names: [...names].filter((word) => word.split(' ').some(isMissing)).length,
    opposites: opposed.length,
    denials: clausesOf(answer, maxClauses).filter((clause) => isContradicted(clause, source.clauses)).length,
  }
}

function isContradicted({ content, isDenied }: Clause, supplied: readonly Clause[]): boolean {
  let [same, other] = [0, 0]
  for (const clause of supplied) {
    let shared = 0
    for (const stem of content) if (clause.content.has(stem)) shared += 1
    const share = shared / content.size
    if (clause.isDenied === isDenied) same = Math.max(same, share)
    else other = Math.max(other, share)
  }
  return other >= sameClause && other > same
}

function clausesOf(text: string, max: number): Clause[] {
  return text
    .split(clauseEnd, max)
    .map((clause) => clause.slice(0, maxClauseUnits))
    .map((clause) => ({
      content: new Set(stemsOf(clause).filter((stem) => !isFunctionWord(stem) && !denial.test(stem))),
      isDenied: denial.test(clause),
    }))
    .filter(({ content }) => content.size >= 2)
}

interface Amounts {
  numbers: string[]
  /** Numbers with their units, `30 day`. */
  units: string[]
}

function amountsOf(text: string): Amounts {
  const found: Amounts = { numbers: [], units: [] }
  for (const { index, 0: digits } of text.matchAll(number)) {
    const value = plainNumber(digits)
    found.numbers.push(value)
    const end = index + digits.length
    const [, name = ''] = unit.exec(text.slice(end, end + maxUnitUnits)) ?? []
    if (name !== '') found.units.push(`${value} ${plainUnit(name.toLowerCase())}`)
  }
  return found
}

function plainUnit(name: string): string {
  if (name === '%') return 'percent'
  return name.endsWith('s') ? name.slice(0, -1) : name
}

function numberOf(amount: string): string {
  return amount.split(' ')[0] ?? ''
}

function unitOf(amount: string): string {
  return amount.split(' ')[1] ?? ''
}

function plainNumber(digits: string): string {
  return digits
    .replaceAll(/[,\u00a0]/g, '')
    .replace(/\.0*$/, '')
    .replace(/\.$/, '')
}
