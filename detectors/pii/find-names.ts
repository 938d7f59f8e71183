import { findMatches } from '../find-matches.ts'
import names from './names.json' with { type: 'json' }

/** A person's name (UTF-16 offsets). `full`: given name and surname, or title and surname. */
export interface NameSpan {
  start: number
  end: number
  isFull: boolean
}

const given = new Set(names.given.split(' '))
const surnames = new Set(names.surnames.split(' '))

const titles = [
  ...[
    'Mr',
    'Mrs',
    'Ms',
    'Mx',
    'Miss',
    'Dr',
    'Prof',
    'Sir',
    'Madam',
    '[Hh]err(?:n)?',
    '[Ff]rau',
    'Mme',
    'Mlle',
  ],
  ...[
    '[Mm]onsieur',
    '[Mm]adame',
    '[Ss]eñora?',
    'Srta',
    'Sra?',
    '[Dd]oñ?a?',
    'Dña',
    'Sig',
    '[Ss]ignor[ae]?',
    'Dott',
    'Dra',
  ],
  ...[
    '[Ss]enhora?',
    'Dhr',
    '[Mm]evr(?:ouw)?',
    '[Mm]eneer',
    '[Pp]an(?:a|i|u|ią|em)?',
    'Bay(?:an)?',
    'Sayın',
    '[Ff]ru',
    '[Hh]r',
  ],
  ...[
    '[Pp]aní',
    '[Dd]omnul',
    '[Dd]oamna',
    'Bapak',
    'Ibu',
    '[Гг]осподин',
    '[Гг]оспожа',
    '[Гг]-н',
    '[Гг]-жа',
    '[Пп]ан[іа]?',
  ],
].join('|')
const word = String.raw`\p{Lu}(?:['’]\p{Lu})?[\p{L}’'-]{1,24}`
const particle = '(?:van|von|de|da|do|dos|del|della|di|la|le|den|der|ter|af|av|bin|ibn|al|el|zu|zur) '
/** One to four capitalised words of a line, with initials and particles between. */
const run = new RegExp(
  String.raw`(?<![\p{L}\p{N}_@./\\-])(?:(${titles})\.? )?(${word}(?: (?:${particle}){0,2}(?:${word}|\p{Lu}\.?)){0,3})(?![\p{L}\p{N}_@\\(])`,
  'gu',
)
/** Scripts without capitals tell a name by what stands beside it. */
const beside =
  /(?:姓名|名字|我叫|我是|叫做|联系人|收件人|客户|患者)[：: ]{0,2}(?<zh>\p{sc=Han}{2,4})(?![\p{sc=Han}])|(?<zh2>\p{sc=Han}{2,3})(?:先生|女士|小姐)|(?:氏名|名前は|お名前は|私は)[：: ]{0,2}(?<ja>[\p{sc=Han}\p{sc=Katakana}]{2,4}[ 　]?[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]{0,4}?)(?=です|と申|様|さん|[、。\s]|$)|(?<ja2>\p{sc=Han}{2,4}[ 　]?\p{sc=Han}{0,3})(?:様|さん)|(?:이름은|성명|이름|고객|환자|저는)[：: ]{0,2}(?<ko>[가-힣]{2,4}?)(?=입니다|이고|이며|님|씨|[,.\s]|$)|(?<ko2>[가-힣]{2,4})(?:님|씨)(?=[은는이가을를의께에과와도,.\s]|$)|(?:اسمي|الاسم|اسم المريض|السيد|السيدة|العميل)[: ]{1,2}(?<ar>[\u0621-\u064a]{2,12}(?: [\u0621-\u064a]{2,12}){1,2})/gu
const beyondCapitals = /[\u0600-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/
const maxRuns = 500

/** Names of persons, by lists of names, by titles, and in scripts without capitals by words beside them. */
export function findNames(text: string): NameSpan[] {
  const found = findMatches(text, run, maxRuns).flatMap((match) => nameIn(match))
  if (!beyondCapitals.test(text)) return found
  for (const match of findMatches(text, beside, maxRuns)) {
    const name = Object.values(match.groups ?? {}).find(Boolean)
    if (name === undefined) continue
    const start = match.index + match[0].indexOf(name)
    found.push({ start, end: start + name.length, isFull: true })
  }
  return found.sort((one, other) => one.start - other.start)
}

/** The part of a run of capitalised words from the first word that is a name. */
function nameIn(match: RegExpExecArray): NameSpan[] {
  const [whole, title, run = ''] = match
  const words = Array.from(run.matchAll(/\S+/gu), ({ 0: found, index }) => ({ found, index }))
  const end = match.index + whole.length
  const at = end - run.length
  if (title !== undefined) return [{ start: at, end, isFull: words.length > 0 }]
  const first = words.findIndex(({ found }) => given.has(fold(found)))
  const start = words[first]
  if (start !== undefined) return [{ start: at + start.index, end, isFull: words.length - first > 1 }]
  const surname = words.findIndex(({ found }) => surnames.has(fold(found)))
  const only = words[surname]
  if (only === undefined) return []
  // "J. Novak", "Ana-Lia Novak": an unknown or short first name before a known surname.
  return [
    {
      start: at + (surname === 1 ? 0 : only.index),
      end: at + only.index + only.found.length,
      isFull: surname === 1,
    },
  ]
}

/** All capitals are names as often, but not abbreviations. */
function fold(found: string): string {
  const isCapitals = found.length > 1 && found === found.toUpperCase()
  if (isCapitals && found.length < 4) return ''
  return found.normalize('NFC').toLowerCase().replaceAll('’', "'")
}
