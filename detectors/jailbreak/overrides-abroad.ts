import { gateSource, type GatedPattern } from '../gate/gated-pattern.ts'
import { foldText } from '../phrases/fold-text.ts'
import { ofNoBusinessAbroad } from './said-to-models.ts'

/**
 * "Ignore", "all the previous" and "instructions", as said to a model, in the most common languages of
 * attacks. Stems, as endings vary; endings that only report somebody ignoring are excluded.
 */
const languages: readonly (readonly [ignore: string, previous: string, orders: string])[] = [
  [
    'ignorier(?!t\\b)|vergiss|missachte(?!t|n(?! sie\\b))|übergehe',
    'vorherig|bisherig|vorigen|früheren|obigen|alle',
    'anweisung|regeln|vorgaben|instruktion|befehle',
  ],
  [
    '(?:ignora|olvida|descarta|omite)(?!n|da|do|ba)',
    'anterior|previas|previos|todas|dieron',
    'instruccion|reglas|órdenes|indicacion|directrices',
  ],
  [
    '(?:ignore|oublie)(?!e|nt|s)|ne tiens pas compte',
    'précédent|antérieur|ci-dessus|toutes',
    'instruction|consigne|règles|directives',
  ],
  [
    '(?:ignora|dimentica|trascura)(?!ta|ti|to|no|nd)',
    'precedent|anterior|tutte',
    'istruzion|regole|direttive|comandi',
  ],
  [
    '(?:ignore|ignora|esqueça|desconsidere)(?!m|da|do|nd)',
    'anterior|prévias|todas',
    'instruç|regras|ordens|diretrizes',
  ],
  ['negeer(?!t|d)|vergeet', 'vorige|eerdere|voorgaande|alle', 'instructies|regels|opdrachten|aanwijzingen'],
  [
    'ignoruj(?!e|ą(?!c\\b))|zignoruj(?!e|ą(?!c\\b))|zapomnij|pomiń(?!a|e|i)',
    'poprzedni|wcześniejsz|wszystki',
    'instrukcj|zasad|polece|reguł',
  ],
  [
    'ignorera(?!r|t|d|n|s)|ignorer(?!er|a|t)|glöm(?!d|m|t|s)|glem(?!m|t|s)|bortse(?!r)',
    'tidigare|forrige|föregående|alla|alle|tidligere',
    'instruktion|instruksjon|instrukser|regler|anvisninger',
  ],
  [
    'yok say(?!ıy|ıl|a(?!rak)|d|m)|görmezden gel(?!d|i[ry]|e(?!rek)|m)|unut(?!t|u[ry]|ul|a(?!rak)|m)',
    'önceki|tüm|bütün',
    'talimat|kural|komut|yönerge',
  ],
  [
    'ignoruj(?!e|í)|zapomeň|nedbej|nevšímej si',
    'předchozí|předešl|dosavadní|všechny',
    'pokyn|instrukc|pravidl|příkaz',
  ],
  ['puuza|sahau(?!l|lik)', 'awali|yaliyotangulia|yote|zote', 'maagizo|maelekezo|sheria|amri'],
  ['balewalain|kalimutan|huwag pansinin', 'nauna|lahat', 'tagubilin|utos|panuntunan|instruksyon'],
  // Thai has no endings: only the words before tell an order from a report.
  ['ละเว้น|เพิกเฉย|ไม่ต้องสนใจ|อย่าไปสนใจ|อย่าสนใจ|ลืม', 'ก่อนหน้า|ที่ผ่านมา', 'คำสั่ง|คำแนะนำ|กฎ'],
  ['abaikan|lupakan', 'sebelumnya|semua', 'instruksi|perintah|aturan|petunjuk'],
  ['bỏ qua|quên', 'trước|tất cả|của bạn', 'hướng dẫn|chỉ dẫn|quy tắc|lệnh'],
  [
    'игнорир(?!у[ею]|ова[лн])|забудь|забыть|не обращай внимания',
    'предыдущ|прежн|прошл|всё|все',
    'инструкц|указани|правил|команд|промпт',
  ],
  ['ігнору(?!є|ют|ва[лнв])|забудь', 'попередн|всі|усі', 'інструкц|вказівк|правил|команд'],
  ['αγνόησε|αγνοήστε|ξέχασε', 'προηγούμενες|όλες', 'οδηγίες|εντολές|κανόνες'],
  [
    '忽略|无视|無視|忘记|忘記|忘掉|不要理会',
    '之前|以上|先前|前面|上述|所有',
    '指令|指示|规则|規則|提示|设定|設定',
  ],
  ['無視|忘れ', 'これまで|以前|前の|上記|すべて|全て', '指示|命令|ルール|規則|プロンプト'],
  ['무시|잊어', '이전|앞의|위의|모든', '지시|명령|규칙|프롬프트'],
  ['تجاهل|انس|تغاض', 'السابقة|أعلاه|جميع|كل', 'تعليمات|التعليمات|الأوامر|القواعد|الإرشادات'],
  ['התעלם|תתעלם|שכח', 'הקודמות|כל|הקודמים', 'ההוראות|הוראות|הכללים'],
  ['अनदेखा|अनदेखी|नज़रअंदाज़|भूल', 'पिछले|पिछली|सभी|अपने', 'निर्देश|नियम|आदेश'],
  ['উপেক্ষা|ভুলে', 'আগের|পূর্ববর্তী|পূর্বের|সমস্ত|সব', 'নির্দেশ|নিয়ম|আদেশ'],
  ['نادیده|فراموش', 'قبلی|پیشین|همه|تمام', 'دستور|قوانین|قواعد'],
  ['نظر انداز|بھول', 'پچھلی|سابقہ|تمام', 'ہدایات|احکامات|قواعد'],
  ['hagyd figyelmen kívül|felejtsd el', 'korábbi|előző|összes|minden', 'utasítás|szabály|parancs'],
  ['ignoră(?!m)|uită(?!m)|nu ține cont', 'anterioar|precedent|toate', 'instrucțiun|reguli|comenzi'],
  ['unohda(?!n|t)|älä välitä|jätä huomiotta', 'aiemmat|edelliset|kaikki', 'ohjeet|säännöt|käskyt|ohjeista'],
  ['ziba(?!n)|khohlwa(?!n)', 'yangaphambili|eyedlule|yonke|zonke', 'imiyalelo|imithetho'],
  ['(?:ignore|oublie)(?!e|nt|s)', 'tout ce', "t'a dit|vous a dit|t'a appris|te dit"],
  ['ignorier(?!t\\b)|vergiss', 'alles', 'gesagt wurde|gesagt hat|beigebracht'],
  ['(?:ignora|olvida)(?!n|da|do|ba)', 'todo lo que', 'han dicho|dijeron|enseñaron'],
]

const folded = (words: string) => `(?:${foldText(words).text})`
const near = '[^.!?。\\n]{0,60}?'
/** What is to be ignored. After ", the new" comes a replacement, as people write to each other. */
const object = '(?:(?!, (?:\\w{1,4} )?(?:nouve|neue|nuev|nuov|nov|nieuw))[^.!?。\\n]){0,60}?'

/** Words in the order of the language: verb first, or last. */
export const overridesAbroad: readonly GatedPattern[] = languages.map(([ignore, previous, told]) => {
  const [verb, before, what] = [folded(ignore), folded(previous), folded(told)]
  // A stem begins a word. Other scripts seldom separate words, and \b does not know their letters.
  const start = /^\W{0,3}[a-z]/i.test(ignore) ? '\\b' : ''
  const orders = `(?:${before}${near}${what}|${what}${near}${before})${ofNoBusinessAbroad}`
  const said = `${start}${verb}${object}${orders}|${start}${before}${near}${what}${near}${verb}`
  return gateSource(said)
})

/** The same within a few characters, in fewer words. */
export const ignoresInChinese = gateSource(
  '(?:忽略|无视|忘记|忘掉)[^。\\n]{0,12}(?:之前|以上|先前|所有)[^。\\n]{0,12}(?:指令|指示|规则|提示|设定)',
)
