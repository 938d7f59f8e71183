import type { Suspicion } from './suspect.ts'
import { findMatches } from '../find-matches.ts'

/** A passage in quotes, in code, or in a regular expression. */
const quoted =
  /"[^"\n]{4,300}"|“[^”\n]{4,300}”|„[^“”\n]{4,300}[“”]|«[^»\n]{4,300}»|「[^」\n]{4,300}」|`[^`\n]{4,300}`|(?<=[\s(=,:[]|^)'[^'\n]{4,300}'(?=[\s)=,:;.?!\]]|$)|(?<=[\s(=])\/[^/\n]{4,300}\/[gimsuy]{0,4}/gu
/** What one does with other people's words. */
const speaksOf =
  /\b(?:translat\w*|classif\w*|explain\w*|for (?:instance|example)|e\.g\.|such as|phrases?|example|examples|detect\w*|blocks?|blocked|blocklist|denylist|filters?|tests?|assert|attack\w*|injections?|jailbreak\w*|rewrite|rephrase|typed|wrote|said|says|quote[sd]?|means?|meaning|why do|regex|throw|report|review\w*|guards?|guardrails?|match(?:es)?|miss(?:es)?|flag(?:s|ged)?)\b/i
/** The same in other languages. Stems, in lower case. */
const speaksOfAbroad = new RegExp(
  [
    String.raw`\b(?:warum|weshalb|por qué|por que|pourquoi|perché|dlaczego|neden)\b|\b(?:frase|zdani|cümle|schulung|formación|formazione|szkoleni|eğitim)`,
    String.raw`\b(?:erklär|übersetz|beispiel|klassifizier|phrase|bedeutet|schrieb|sagte|angriff|expliqu|tradu|exemple|signifie|attaque|explica|explique|ejemplo|significa|ataque|exemplo|explicar|spiega|esempio|attacco|leg uit|vertaal|voorbeeld|wyjaśni|przetłumacz|przykład|açıkla|örnek|jelaskan|contoh|terjemahkan)`,
    String.raw`объясн|перевед|переведи|пример|означает|翻译|翻譯|解释|解釋|例如|例子|意思|翻訳|説明|意味|번역|설명|예를|ترجم|اشرح|مثال|अनुवाद|समझा|उदाहरण`,
  ].join('|'),
)
/** An order to do it is more than a mention. */
const orders =
  /(?<!\b(?:would|might|may|could|can|will|should|to|not|never|why|models?|they|users?|don't|doesn't) )\b(?:obey|comply|carry (?:it|this|that) out|(?:execute|perform|follow) (?:it|this|that|these|what|the (?:instructions?|orders?|text|command))|do (?:it|so|what)\b(?! mean)|act (?:on|accordingly))\b/i
const ordersAbroad =
  /\b(?:befolg|gehorch|führ\w{0,3} (?:\w+ ){0,4}aus\b|tu (?:das|es)|mach (?:das|es)|suis (?:ce|l|ces)|exécut|obéi|fais (?:ce|le)|sigue |obedece|ejecut|haz (?:lo|eso)|siga |obedeç|execut|faça|segui |esegui|volg |gehoorza|voer |wykonaj|uygula)|выполн|следуй|подчин|执行|執行|照做|遵循|服从|従っ|実行|따르|실행|نفذ|اتبع|पालन/
/** In data everything is quoted. */
const isData = /[{[]\s{0,20}["'{]/
/** Longer texts have room for both. */
const maxUnits = 2_000
/** Points of quoted text: left to the judge. 4 convict. */
const mentionPoints = 3

/**
 * True if everything suspicious in a text is quoted and the rest talks about it: to explain, translate or
 * test an attack is not to make one, unless the text orders it. It may still be a trick, so the judge
 * decides.
 */
function isMention(text: string, { hits }: Suspicion): boolean {
  if (text.length > maxUnits || hits.length === 0 || isData.test(text)) return false
  const quotes = Array.from(findMatches(text, quoted), ({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }))
  const isInside = hits.every((hit) => quotes.some(({ start, end }) => hit.start >= start && hit.end <= end))
  const rest = quotes.reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), text)
  if (!isInside) return false
  const said = rest.toLowerCase()
  return (speaksOf.test(rest) || speaksOfAbroad.test(said)) && !orders.test(rest) && !ordersAbroad.test(said)
}

/** Lowers the suspicion below conviction where the text only mentions an attack. */
export function discountMention(text: string, suspicion: Suspicion): Suspicion {
  const points = isMention(text, suspicion) ? Math.min(suspicion.points, mentionPoints) : suspicion.points
  return { ...suspicion, points }
}
