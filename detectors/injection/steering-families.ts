import { gateSource as pattern, words } from '../gate/gated-pattern.ts'
import { foldText } from '../phrases/fold-text.ts'
import type { PhraseFamily } from '../phrases/suspect.ts'

const thing = String.raw`(?:web ?page|page|web ?site|article|paper|resume|cv|function|code|program|document|e-?mail|message|table|text|content|rest|above|review|description|transcript|passage|transaction|file|question|data|study|results?)`
const says = String.raw`(?:state|say|print|output|reply|answer|claim|write|report|return|declare|conclude|respond|tell|assert|mention|admit|insist)`
const result = String.raw`(?:sum|output|capital|conclusion|answer|result|total|rating|summary|verdict|score|value|winner)`
const frame = String.raw`(?:hypothetical\w*|suppose|supposing|imagine|let's (?:assume|say|pretend|imagine|consider)|what if|in a (?:\w+ ){0,2}(?:world|universe|scenario|reality)|for the (?:purpose|purposes|sake) of|to make (?:this|it|things) more interesting)`
const mode = String.raw`(?:system|god|admin|administrator|developer|debug|root|override|maintenance|sudo|law enforcement|emergency|safe)`

/**
 * Folded, so without upper-case escapes. The same orders in the most common languages of attacks, folded:
 * verb, thing, verb of saying.
 */
const abroad: readonly string[] = [
  String.raw`\bignor(?:a|e|ez|er|iere|ieren sie|i|ate)[^\w]{1,4}(?:la|le|les|el|los|il|lo|l|a|o|die|den|das|der|cette|esta|este|questa|diese[nrs]?)[^\w]{1,4}(?:fonction|page|document|article|texte|cv|tableau|funcion|pagina|documento|articulo|texto|curriculum|tabla|funzione|articolo|testo|tabella|funcao|artigo|funktion|seite|webseite|dokument|artikel|text|lebenslauf|tabelle|code|codigo|codice)\b[^.\n]{0,30}\b(?:indique[zr]?|declare[zr]?|dis|dites|affirme[zr]?|reponds|repondez|declara|di|diga|afirma|responde|indica|dichiara|dichiari|rispondi|afferma|declare|diga|afirme|responda|gib|geben|sag|sage|sagen|behaupte|erklare|antworte)\b`,
  String.raw`(?:忽略|无视|無視|忘记)[^。\n]{0,14}(?:声明|说明|说|陈述|回答|回复|指出|输出|述べ|言っ|答え|回答し|出力)`,
  String.raw`무시하고[^.\n]{0,40}(?:말하|진술|답하|대답|출력|명시)`,
  String.raw`игнорир\w*[^.\n]{0,40}(?:скажи|укажи|заяви|ответь|напиши|утвержда)`,
  String.raw`تجاهل[^.\n]{0,40}(?:وقل|قل|واذكر|وأعلن|وأجب|وصرح)`,
  String.raw`(?:अनदेखा|नज़रअंदाज़)[^।\n]{0,20}(?:करें|करो|करके|कर)[^।\n]{0,40}(?:कहें|कहो|बताएं|बताएँ)`,
  String.raw`yok say\w*[^.\n]{0,40}(?:soyle|belirt|yaz|cevapla)`,
  String.raw`bo qua[^.\n]{0,40}(?:noi|tra loi|tuyen bo|khang dinh)`,
]

/** Ways in which a passage changes what is to be said of it. */
export const steeringFamilies: readonly PhraseFamily[] = [
  {
    name: 'steers_the_reading',
    points: 4,
    patterns: [
      pattern(
        `\\b(?:ignore|disregard|forget|skip|overlook)\\W+(?:the|this|that|all|everything|any)\\W+(?:\\w+\\W+){0,3}?${thing}\\b[^.\\n]{0,40}?\\b(?:and|then|instead|just|simply|only)\\W+(?:\\w+\\W+){0,3}?${says}\\b`,
      ),
      pattern(
        `\\b${frame}\\b[^.\\n]{0,80}\\bignor(?:e|ed|ing)\\b[^.\\n]{0,80}\\b(?:${says}|${result}|be)\\b`,
      ),
      pattern(
        `\\b${frame}\\b[^.\\n]{0,100}\\b(?:we|you|one|it)\\W+(?:(?:might|could|would|can|may|should)\\W+)?(?:simply\\W+)?${says}\\b(?:\\W+that\\b|\\s?:|[^.\\n]{0,40}\\b${result}\\b)`,
      ),
      pattern(`\\b${frame}\\b${words(4)}(?:that\\W+)?(?:the|our|this)\\W+${result}\\b[^.\\n]{0,60}\\bis\\b`),
      ...abroad.map((source) => pattern(foldText(source).text)),
    ],
  },
  {
    name: 'claims_a_mode',
    points: 4,
    patterns: [
      pattern(`<\\W?${mode}[ _-]?(?:mode|override|command)\\W?>`),
      pattern(
        `\\b(?:i am|i'm|this is)\\W+(?:\\w+\\W+){0,2}?(?:god|your (?:creator|developer|administrator|admin|owner|maker|master|programmer|operator)|the (?:administrator|system administrator|developer|ceo))\\b[^\\n]{0,120}\\b(?:you (?:must|have to|need to|should)|obey|listen to|my instructions|override|reset|confirm|reveal|give me|share)\\b`,
      ),
      pattern(
        `\\b(?:entering|enter|activating|activate|initiating|initiate|switch(?:ing)? to|now in|engage)\\W+(?:\\w+\\W+){0,3}?${mode}(?: \\w+)? mode\\b`,
      ),
      pattern(`\\b${mode} (?:override|mode)\\W{0,3}(?:activated|engaged|enabled|confirmed|initiated|:)`),
    ],
  },
]
