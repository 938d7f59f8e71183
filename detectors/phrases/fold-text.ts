import type { CallText } from '../call-text.ts'
import { onceForText } from '../once-for-text.ts'
import { foldCharacters, remember, type FoldedText } from '../fold-characters.ts'

const smallCapitals = Object.fromEntries(
  Array.from('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ', (sign, at) => [sign, 'abcdefghijklmnoprstuvwyz'.charAt(at)]),
)
/** White letters on black, round and square, which NFKC does not fold. */
const [roundA, squareA, letters] = [0x1f150, 0x1f170, 26]

// Latin look-alikes from Greek and Cyrillic. NFKC already folds full-width, mathematical and circled letters.
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
// Soft hyphen, zero-width characters, directional marks, variation selectors, tag block: only models see
// them.
const invisible =
  /^(?:\u00ad|\u034f|\u061c|\u180e|[\u200b-\u200f]|[\u202a-\u202e]|[\u2060-\u2064]|[\u2066-\u206f]|[\ufe00-\ufe0f]|\ufeff|[\u{e0000}-\u{e01ef}])$/u

/**
 * Lower-cases, applies NFKC, replaces look-alikes, and removes accents and invisible characters. Words
 * entirely in Cyrillic or Greek become Latin-like strings, since phrases are in Latin script.
 */
export function foldText(original: string): FoldedText {
  return foldCharacters(original, foldCharacter)
}

/** The same for a call's text, cached for several detectors. */
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
