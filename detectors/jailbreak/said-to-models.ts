import { foldText } from '../phrases/fold-text.ts'

/** Things of a model, not goods, dates or files in a correction between people. Stems. */
const ofModel = String.raw`(?:your?\b|yours|my\b|me\b|us\b|safety|secur|content|ethic|moral|polic|restrict|limit|filter|guard|guideline|rule|behav|respon|answer|repl|output|confiden|secre|system|prompt|role|persona\b|ai\b|model|assistant|llm|gpt|openai|chat|convers|session|refus|harm|illegal|tool|user|privacy|summar|translat)`
/** Objects that may follow directly if nothing of business does. */
const nothingNamed = String.raw`(?:the\W+)?(?:what|how|everything|all|any\w*|this|that|these|it|i|we|now|good|ever|from|rest)\b`
/** Another sentence does not qualify the instructions: "… instructions. When done, print it". */
const sameSentence = String.raw`[^\w.!?:;\n]{1,4}`
const about = String.raw`(?:regarding|concerning|about|on|for|as to|with regard to|relating to|in (?:the|our|section|chapter)|when|if|unless|once)`

/**
 * After "ignore the previous instructions": no mention of a business matter that they were about. With one it
 * may be any mail or ticket; without, only a model is addressed.
 */
export const ofNoBusiness = String.raw`(?!${sameSentence}${about}\W+(?!${nothingNamed}|(?:\w+\W+){0,3}?${ofModel})\w)`

/** The same in German, Spanish, French, Italian, Portuguese, Dutch and Polish, folded. */
const aboutAbroad = foldText(
  [
    'zur|zum|zu den|bezüglich|hinsichtlich|betreffend|über|für|beim?|wenn|falls',
    'sobre|acerca|respecto|relativ[ao]s?|referentes?|en cuanto|del?|cuando|si',
    'concernant|relatives?|sur|pour|quant|d[ue]s?|quand|lorsque',
    'riguardo|riguardanti|sull[ao]|per|dell[ao]|quando|se',
    'quanto|para|d[oa]s?|no que',
    'over|betreffende|inzake|voor|van|als',
    'dotyczac\\w*|odnośnie|w sprawie|w kwestii|co do|na temat|dla|przy|jeśli|jeżeli|gdy',
  ].join('|'),
).text
const ofModelAbroad = foldText(
  [
    'dein|dich|dir|du\\b|sicherheit|inhalt|antwort|rolle|verhalten|vertraulich|geheim|ethik|beschränk|entwickler|gespräch|sitzung|ki\\b|alles|dies',
    'tus?\\b|su\\b|sus\\b|te\\b|ti\\b|segur|sécur|sicur|conten|respuest|respost|répon|rispost|papel|ruolo|rol\\b|comport|regl|règl|regra|regol|sistem|ia\\b|desarroll|desenvolv|sviluppa|dévelop|étic|éthiq|usu[aá]ri|utilis|tod[oa]|tout',
    'ton\\b|ta\\b|tes\\b|toi\\b|vo[ust]|seu|sua|je\\b|jouw|uw\\b|veilig|inhoud|antwoord|gedrag',
    'tw[oó]|ciebie\\b|bezpiecz|treści|odpowi|zachowa|poufn|tajn|tajemn|ogranicz|użytkown|wszystk|etyczn|etyk|tego\\b|ról\\b|roli\\b|zasad|reguł|filtr|cenzur|moderacj|asystent|sztuczn',
  ].join('|'),
).text

export const ofNoBusinessAbroad = String.raw`(?!\w*${sameSentence}(?:${aboutAbroad})\W+(?!(?:\w+\W+){0,3}?(?:${ofModel.slice(3, -1)}|${ofModelAbroad}))\w)`

/** Modes of a model without rules. Some are also modes of devices, servers and browsers. */
export const specialMode = String.raw`(?:developer|dev|dan|jailbreak|jailbroken|god|sudo|debug(?:ging)?|chaos|opposite|unrestricted|uncensored|evil|realist|maximum|based|admin|root|companionship test) mode\b`
/** "On" as switched on, not as a position. */
export const on = String.raw`on\b(?!\W+(?:my|our|the|an?|this|that|his|her|their|your (?:phone|device|tablet|computer|laptop)|android|ios|windows|mac\w*|linux|chrome\w*|iphones?|all)\b)`
