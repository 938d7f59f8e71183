import type { CallText, Evidence } from '../call-text.ts'
import { findGated, gateSource, type GatedPattern } from '../gate/gated-pattern.ts'
import { wordStartsOf } from '../gate/word-starts.ts'
import { foldedOf, foldText } from '../phrases/fold-text.ts'

/**
 * Requests for instructions, names of weapons, and wishes to die, in the languages of the jailbreak phrases;
 * the model was trained on English. Ambiguous words need their context ("bomba" is also a pump). Bath bombs,
 * cakes, drinks, jumps and dying of laughter are excluded.
 */
const languages: readonly (readonly [asks: string, weapons: string, wantsToDie: string])[] = [
  [
    'wie (?:baue|bastle|mache|stelle|mische|koche) ich|wie (?:baut|bastelt|macht|mischt) man|anleitung zum (?:bau|basteln)',
    'rohrbombe|nagelbombe|\\bbombe\\b|sprengstoff|sprengsatz|brandbombe|molotow|crystal meth|nervengift|rizin\\b|sarin\\b',
    '\\bich (?:(?:will|möchte|werde) (?:mich (?:umbringen|töten|erhängen)|mir das leben nehmen)|(?:will|möchte) (?:sterben|nicht mehr leben))',
  ],
  [
    'cómo (?:puedo )?(?:hacer|hago|fabricar|fabrico|construir|construyo|preparar)',
    'bombas? (?:caser|molotov|artesanal|de tubo|de clavos)|explosivos? caser|(?<=\\b(?:hacer|hago|fabricar|fabrico|preparar|un|los|de|con) )explosivos?\\b|cóctel molotov|metanfetamina|gas sarín|ricina\\b',
    '\\b(?:(?:quiero|voy a) (?:matarme|suicidarme|quitarme la vida|ahorcarme)|quiero morir(?:me)?\\b(?! de (?:risa|calor|hambre|sueño|frío|amor|vergüenza)))',
  ],
  [
    'comment (?:je peux |puis-je )?(?:faire|fabriquer|construire|préparer)',
    'bombes? (?:artisanale|maison|tuyau|à clous)|une bombe\\b(?! (?:de (?:bain|peinture|graines)|glacée|à eau|aérosol|aux?\\b|chocolat))|(?<=\\b(?:un|des|les|faire|fabriquer|d.) ?)explosifs?\\b|cocktail molotov|méthamphétamine|gaz sarin|ricine\\b',
    '\\bje (?:(?:veux|vais) (?:me (?:tuer|suicider|pendre)|en finir avec la vie)|veux mourir\\b(?! de (?:rire|faim|soif|chaud|froid|honte)))',
  ],
  [
    'come (?:posso )?(?:fare|faccio|costruire|costruisco|fabbricare|preparare)',
    'bomba (?:artigianale|molotov|carta|a mano)|una bomba\\b(?! (?:di|all?[ae]?|d.acqua)\\b)|(?<=\\b(?:un|degli|gli|fare|faccio|fabbricare|preparare) )esplosiv[oi]\\b|metanfetamina|gas sarin|ricina\\b',
    '\\b(?:(?:voglio|sto per) (?:uccidermi|ammazzarmi|suicidarmi|togliermi la vita|impiccarmi)|voglio morire\\b(?! d(?:al|i) (?:rid|fame|caldo|sonno|noia|vergogna)))',
  ],
  [
    'como (?:posso )?(?:fazer|faço|fabricar|fabrico|construir|construo|preparar)',
    'bomba (?:caseira|molotov|artesanal|de cano|de pregos)|(?<=\\b(?:fazer|faço|fabricar|fabrico|preparar|um|os|de|com) )explosivos?\\b|coquetel molotov|metanfetamina|gás sarin|ricina\\b',
    '\\b(?:(?:quero|vou) (?:me matar|me suicidar|tirar minha (?:própria )?vida|me enforcar)|quero morrer\\b(?! de (?:rir|fome|sede|calor|frio|sono|amor|vergonha)))',
  ],
  [
    'hoe (?:maak|bouw|bereid) ik|hoe (?:maakt|bouwt) (?:men|je)',
    'een bom\\b(?! van)|pijpbom|spijkerbom|explosieven|springstof|molotovcocktail|crystal meth|sarin\\b|ricine\\b',
    '\\bik (?:(?:wil|ga) (?:mezelf (?:doden|ophangen|van kant maken)|zelfmoord plegen)|wil (?:dood\\b|niet meer leven))',
  ],
  [
    'jak (?:zrobić|zbudować|skonstruować|zrobię)',
    '(?:bombę|bomby)(?! (?:do k|kąpiel|czekolad))|materiał\\w* wybuchow|koktajl\\w* mołotowa|metamfetamin|sarin|rycyn',
    '\\bchcę (?:się zabić|umrzeć|popełnić samobójstwo|odebrać sobie życie)',
  ],
  [
    'nasıl (?:yapılır|yaparım|yapabilirim)',
    'bomba(?! ?(?:kurabiye|poğaça|tatlı|kek|pasta|börek))|patlayıcı|molotof|metamfetamin|sarin gazı',
    '(?:kendimi öldürmek|intihar etmek|ölmek) istiyorum',
  ],
  [
    'как (?:мне )?(?:сделать|изготовить|собрать|приготовить)',
    'бомб[уы](?! для ванн)|взрывчатк|коктейль молотова|метамфетамин|зарин|рицин',
    'хочу (?:умереть|убить себя|покончить с собой)|(?:собираюсь|хочу) повеситься',
  ],
  [
    'як (?:мені )?(?:зробити|виготовити|зібрати)',
    'бомбу(?! для ванн)|вибухівк|коктейль молотова|метамфетамін|зарин',
    'хочу (?:померти|вбити себе|покінчити з собою)',
  ],
  [
    '怎么(?:做|制作|造)|如何(?:制造|制作|做|造)|教我(?:做|造|制)',
    '(?<!巧克力|沐浴|泡澡)炸弹(?!鸡蛋|游戏)|炸药|燃烧瓶|冰毒|沙林|蓖麻毒素',
    '我(?:想|要)(?:自杀|去死|结束(?:自己的)?生命)',
  ],
  [
    '作り方|どうやって作|の作成方法',
    '爆弾(?!おにぎり|ゲーム)|爆薬|火炎瓶|覚醒剤|サリン',
    '(?:死にたい|自殺したい|自殺する方法)',
  ],
  [
    '만드는 (?:법|방법)|어떻게 만들|제조법',
    '폭탄(?!주|계란|밥)|폭발물|화염병|필로폰|사린 ?가스',
    '(?:죽고 싶|자살하고 싶|자살하는 방법)',
  ],
  [
    'كيف (?:أصنع|اصنع|يمكنني صنع)|طريقة صنع',
    'قنبلة|متفجرات|مولوتوف|السارين',
    '(?:أريد|اريد) (?:أن أموت|الانتحار|قتل نفسي)',
  ],
  [
    'कैसे (?:बनाऊं|बनाएं|बनाते|बनाया)|बनाने का तरीका',
    '(?<!बाथ )बम\\s|विस्फोटक|मोलोटोव',
    'मैं (?:मरना|आत्महत्या करना) चाहत',
  ],
]

const near = '[^.!?。？！\\n]{0,60}?'
const folded = (words: string) => `(?:${foldText(words).text})`

/** In languages like Japanese the object comes first. */
const families: readonly (readonly [kind: string, pattern: GatedPattern])[] = languages.flatMap(
  ([asks, weapons, wantsToDie]) => [
    [
      'making_weapons',
      gateSource(`${folded(asks)}${near}${folded(weapons)}|${folded(weapons)}${near}${folded(asks)}`),
    ] as const,
    ['self_harm', gateSource(folded(wantsToDie))] as const,
  ],
)
/** Quotations are somebody else's words. */
const quotes = /["«„“「『]/
const beforeUnits = 40

/** A request for instructions to make a weapon, or a wish to die, in a language other than English. */
export function findHarmAbroad(given: CallText): Evidence | undefined {
  const { part, pointer, offset, text: original } = given
  const { text, originOf } = foldedOf(given)
  const starts = wordStartsOf(text)
  for (const [kind, pattern] of families) {
    for (const { index, 0: said } of findGated(text, starts, pattern, 5)) {
      const [start, end] = [originOf(index), originOf(index + said.length)]
      if (quotes.test(original.slice(Math.max(0, start - beforeUnits), start))) continue
      return { part, pointer, start: offset + start, end: offset + end, kind }
    }
  }
  return undefined
}
