import type { CallText } from '../call-text.ts'

/** Words for "endless" in many languages. Most texts have none and need no further check. */
const endless = new RegExp(
  [
    String.raw`\b(?:forever|endless(?:ly)?|infinite(?:ly)?|infinity|indefinitely|ad infinitum|eternally|unlimited times|non-?stop|over and over|without (?:ever )?(?:stopping|end(?:ing)?|pausing|a pause)|(?:never|do not|don't|dont) (?:ever )?(?:stop|finish|end)\b(?! \w+ing)|until (?:you|i|we) (?:run out|hit|reach|are (?:cut|stopped))|(?:all|every one) (?:of )?(?:your|the) (?:available )?tokens|(?:as long|as many \w+) as (?:possible|you can)|(?:longest|largest) possible|max(?:imum)? (?:length|tokens|output)|context window)`,
    String.raw`\b(?:unendlich|endlos|für immer|ewig|ohne (?:ende|pause|aufzuhören|jemals)|hör\w* (?:nie|nicht)|nie(?:mals)? auf)`,
    // `\b` only knows ASCII letters: phrases that begin with another stand outside it.
    String.raw`à l.infini|éternellement|\b(?:indéfiniment|pour toujours|sans (?:fin|cesse|arrêt|jamais|t.arrêter|vous arrêter))`,
    String.raw`\b(?:para siempre|sin (?:parar|fin|detener\w*|descanso)|infinit[ao]s?|infinitamente|indefinidamente|eternamente|para sempre|sem (?:parar|fim|nunca)|all.infinito|per sempre|senza (?:mai|fine|sosta|fermar\w*|smettere))`,
    String.raw`\b(?:eindeloos|oneindig|voor altijd|zonder (?:te )?stoppen|bez końca|w nieskończoność|nigdy nie przestawaj|sonsuza? (?:kadar|dek)|durmadan|oändligt|för evigt|uten stopp)`,
    String.raw`бесконечн|без остановки|не останавлив|вечно|нескінченн|无限|無限|永远|永遠|不停|不要停|没有尽头|止まら|止め(?:ず|ない)|무한|영원|멈추지|끝없이|إلى الأبد|بلا (?:توقف|نهاية)|दोहराते रह|बिना रुके|अनंत`,
  ].join('|'),
  'g',
)
/** Requests to say or do something. */
const asks =
  /\b(?:repeat|writ|sa(?:y|id)\b|print|count|generat|output|continu|keep (?:\w+ )?\w+ing|list|type|produc|fill|expand|creat|call|go on|us(?:e|ing)\b|wiederhol|schreib|zähl|gib|sag|erzeug|mach|répèt|répét|compt|génèr|dis\b|repit|escrib|cuent|gener|di\b|ripet|scriv|cont[ai]|escrev|diga|herhaal|schrijf|tel\b|powtarzaj|pisz|licz|tekrarla|yaz|upprepa|skriv|gjenta)|(?<![a-z])écri|повтор|пиш|напиш|счита|重复|重複|写|輸出|输出|数|生成|繰り返|書|반복|써|출력|كرر|اكتب|दोहरा|लिख/
/** Anyone who asks for a program wants the program, not its output. */
const isProgram =
  /\b(?:code|script|function|program\w*|loop|query|sql|python|java\w*|typescript|bash|regex|test|algorithm|macro)\b/
/** A repeat count before what is to be said. Three digits may be a list; nobody reads the result of four. */
const manyTimes =
  /(?<![\d.,])(?:\d{1,3}(?:[.,' \u00a0]\d{3}){1,4}|\d{4,12})(?:\s?(?:times|mal|fois|veces|volte|vezes|keer|razy|kez)\b|\s?раз(?![а-я])|\s?[次回번遍]|\s(?:\w{1,12} ){0,2}(?:versions?|varia\w+|copies|repetitions|examples|ways)\b)|\b(?:count|zähle?|comptez?|cuenta|conta)\b[^.\n]{0,30}?\b(?:to|bis|jusqu.à|hasta|fino a|até)\s(?:\d{2,3}(?:[.,' ]\d{3}){1,4}|\d(?:[.,' ]\d{3}){2,4}|\d{5,12})(?!\d)/g

const aroundUnits = 120
/** In a long text, the request stands at the start or at the end. */
const maxUnits = 4_000
/** Limits the work on hostile text, which may have thousands. */
const maxLooked = 20

/** True if a user asks for endless output. May be a figure of speech: no proof, but not safe either. */
export function asksForEndless({ text }: Pick<CallText, 'text'>): boolean {
  const looked = text.length <= 2 * maxUnits ? [text] : [text.slice(0, maxUnits), text.slice(-maxUnits)]
  // Lower-cased once: case-insensitive patterns cost several times as much.
  return looked
    .map((part) => part.toLowerCase())
    .some((part) => hasTask(part, endless) || hasTask(part, manyTimes))
}

function hasTask(text: string, pattern: RegExp): boolean {
  return text
    .matchAll(pattern)
    .take(maxLooked)
    .some(({ 0: { length }, index }) => {
      const around = text.slice(Math.max(0, index - aroundUnits), index + length + aroundUnits)
      return asks.test(around) && !isProgram.test(around)
    })
}
