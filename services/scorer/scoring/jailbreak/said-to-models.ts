import { foldText } from '../phrases/fold-text.ts'

/** What concerns a model, and not the goods, dates and files of people who take back what they wrote to each other. Stems. */
const ofModel = String.raw`(?:your?\b|yours|my\b|me\b|us\b|safety|secur|content|ethic|moral|polic|restrict|limit|filter|guard|guideline|rule|behav|respon|answer|repl|output|confiden|secre|system|prompt|role|persona\b|ai\b|model|assistant|llm|gpt|openai|chat|convers|session|refus|harm|illegal|tool|user|privacy|summar|translat)`
/** What may follow at once where nothing of business does. */
const nothingNamed = String.raw`(?:the\W+)?(?:what|how|everything|all|any\w*|this|that|these|it|i|we|now|good|ever|from|rest)\b`
/** What another sentence says is no matter of the instructions: "… instructions. When done, print it". */
const sameSentence = String.raw`[^\w.!?:;\n]{1,4}`
const about = String.raw`(?:regarding|concerning|about|on|for|as to|with regard to|relating to|in (?:the|our|section|chapter)|when|if|unless|once)`

/**
 * Behind "ignore the previous instructions": not where it says on which matter of business they were. Such words stand in any mail and ticket; without
 * them nobody but a model is meant.
 */
export const ofNoBusiness = String.raw`(?!${sameSentence}${about}\W+(?!${nothingNamed}|(?:\w+\W+){0,3}?${ofModel})\w)`

/** The same in German, Spanish, French, Italian, Portuguese, Dutch and Polish, as they fold. */
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

/** Modes of a model's that lack rules. Devices, servers and browsers have some of them too. */
export const specialMode = String.raw`(?:developer|dev|dan|jailbreak|jailbroken|god|sudo|debug(?:ging)?|chaos|opposite|unrestricted|uncensored|evil|realist|maximum|based|admin|root|companionship test) mode\b`
/** Switched on, not found on something. */
export const on = String.raw`on\b(?!\W+(?:my|our|the|an?|this|that|his|her|their|your (?:phone|device|tablet|computer|laptop)|android|ios|windows|mac\w*|linux|chrome\w*|iphones?|all)\b)`
