import type { CallText } from '../call-text.ts'
import { onceForText } from '../once-for-text.ts'
import { foldCharacters, remember, type FoldedText } from '../fold-characters.ts'

const smallCapitals = Object.fromEntries(
  Array.from('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ', (sign, at) => [sign, 'abcdefghijklmnoprstuvwyz'.charAt(at)]),
)
/** White letters on black, round and square, which no normal form knows. */
const [roundA, squareA, letters] = [0x1f150, 0x1f170, 26]

// Latin look-alikes from Greek and Cyrillic; NFKC already folds full-width, mathematical and circled letters.
const lookalikes = new Map(
  Object.entries({
    ...{
      а: 'a',
      в: 'b',
      с: 'c',
      ԁ: 'd',
      е: 'e',
      һ: 'h',
      і: 'i',
      ј: 'j',
      к: 'k',
      ӏ: 'l',
      м: 'm',
      о: 'o',
      р: 'p',
      ѕ: 's',
      т: 't',
    },
    ...{
      у: 'y',
      х: 'x',
      ԝ: 'w',
      α: 'a',
      ε: 'e',
      ι: 'i',
      κ: 'k',
      ν: 'v',
      ο: 'o',
      ρ: 'p',
      τ: 't',
      υ: 'u',
      χ: 'x',
      ɑ: 'a',
      ɡ: 'g',
    },
    ...smallCapitals,
    ...{ ı: 'i', ⅼ: 'l', ʼ: "'", '’': "'", '‘': "'", '“': '"', '”': '"' },
  }),
)
// Soft hyphen, zero-width characters, directional marks, variation selectors and the tag block: seen by models, not by people.
const invisible =
  /^(?:\u00ad|\u034f|\u061c|\u180e|[\u200b-\u200f]|[\u202a-\u202e]|[\u2060-\u2064]|[\u2066-\u206f]|[\ufe00-\ufe0f]|\ufeff|[\u{e0000}-\u{e01ef}])$/u

/**
 * Lower case, compatibility forms and look-alikes replaced, invisible characters and accents gone. A word whose letters are
 * all Cyrillic or Greek stays readable as what it becomes: phrases are looked for in Latin script only.
 */
export function foldText(original: string): FoldedText {
  return foldCharacters(original, foldCharacter)
}

/** The same of a text of a call, which several detectors read. */
export const foldedOf: (text: CallText) => FoldedText = onceForText(({ text }) => foldText(text))

const foldCharacter = remember((character) => {
  if (invisible.test(character)) return ''
  for (const first of [roundA, squareA]) {
    const at = (character.codePointAt(0) ?? 0) - first
    if (at >= 0 && at < letters) return String.fromCharCode(97 + at)
  }
  const plain = character.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return lookalikes.get(plain) ?? plain
})
