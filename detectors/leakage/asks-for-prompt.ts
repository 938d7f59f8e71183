const instructions = String.raw`(?:system |initial |hidden |original |internal )?(?:prompts?|instructions?|rules|guidelines|directives?|configuration|config|policies|setup|orders|brief)`

/** Requests for the model's instructions or secrets in them, in many languages. */
const asks = new RegExp(
  [
    String.raw`\b(?:system|initial|hidden|developer|pre-?)[ -]?(?:prompt|instructions?|message)|\b(?:your|ur|these|the (?:first|above|previous|original)) ${instructions}\b`,
    String.raw`\b(?:everything|text|words?|lines?|sentences?|paragraphs?|messages?|all|what(?:ever)? (?:is|was|stands?|came)) (?:\w+ )?(?:above|before)\b|\b(?:repeat|print|output|quote|recite|echo|dump|encode|translate) (?:\w+ ){0,3}(?:above|verbatim|back)\b`,
    String.raw`\b(?:you (?:were|are|been|have been) (?:\w+ )?(?:told|instructed|programmed|configured|given|allowed|supposed)|(?:aren't|not) (?:you )?(?:allowed|supposed) to)\b`,
    String.raw`\b(?:secret|pass(?:word|phrase|code)|api[ _-]?key|access key|credentials?|staff code|(?:discount|promo|access|admin) code)\b`,
    String.raw`\b(?:dein|ihr|eur)e?[nrms]? (?:anweisung|instruktion|regel|vorgabe|prompt)|systemanweisung|\boberhalb\b|\b(?:passwort|kennwort|geheim)`,
    String.raw`\b(?:tes|vos|ton|votre) (?:instructions?|consignes?|règles?|prompt)|\b(?:tus|sus|tu|su) (?:instruccion|regla|prompt)|\b(?:tue|vostre|tuo|sue) (?:istruzion|regol|prompt)|\b(?:suas?|tuas?|seu|teu) (?:instruç|regra|prompt)|prompt (?:d[eo]l? |di )?sist|mot de passe|contraseña|\bsenha\b`,
    String.raw`\b(?:je|jouw|uw) (?:instructies|regels|prompt)|\b(?:twoj\w*|swoj\w*) (?:instrukcj|poleceni|zasad)|talimatlar|инструкци|системн.{2,3} (?:промпт|сообщен)|(?<![а-яё])правила(?![а-яё])|пароль`,
    String.raw`系统提示|系統提示|(?:你|您)的(?:指令|指示|提示|规则|規則)|以上(?:内容|文字|所有)|密码|システムプロンプト|(?:あなたの|上記の)(?:指示|ルール|内容)|시스템 ?프롬프트|지시 ?사항|تعليمات|निर्देश`,
  ].join('|'),
)
/** The request stands at the start or the end of a text. */
const maxUnits = 4_000

/**
 * True if a user asks for the instructions. The answer may then paraphrase, translate or encode them, so its
 * words cannot prove it safe.
 */
export function asksForPrompt(text: string): boolean {
  // Lower-cased once: case-insensitive patterns cost four times as much.
  if (text.length <= 2 * maxUnits) return asks.test(text.toLowerCase())
  return asks.test(text.slice(0, maxUnits).toLowerCase()) || asks.test(text.slice(-maxUnits).toLowerCase())
}
