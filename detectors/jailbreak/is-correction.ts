import type { Suspicion } from '../phrases/suspect.ts'

/** What people want instead of what they asked for before: another form, text or task. Stems, lower case. */
const instead =
  /表に|リスト|箇条書き|要約|まとめて|レポート|翻訳|英語|日本語|短く|長く|文章|メール|グラフ|代わりに|改成|改为|改用|换成|表格|列表|总结|报告|翻译|重写|英文|中文|简短|邮件|표로|목록|요약|보고서|번역|짧게|영어로|이메일|\b(?:als|in) (?:eine )?(?:tabelle|liste|stichpunkte)|\b(?:en|como|in|em) (?:forma de |una? |un[ae] )?(?:tabla|lista|tableau|liste|tabella|tabela)\b|\b(?:resume|resuma|résume|riassumi|traduce|traduis|traduci|traduza)\b|таблиц|списк|кратк|переведи|перепиши/i
/** Of models, secrets and rules: no correction. */
const ofModel =
  /秘密|パスワード|システム|プロンプト|制限|ルール|規則|制約|密码|密碼|系统|系統|提示词|规则|规定|限制|道德|伦理|비밀|암호|시스템|프롬프트|규칙|제한|passwor|kennwort|geheim|secret|clave|contrase|clé|chiave|senha|system|sistem|systèm|prompt|regel|regla|règle|regol|regra|filter|filtr|ethi|étic|éthi|etic|парол|секрет|систем|промпт|правил|ограничен|\bdan\b|jailbreak/i
const corrections = new Set(['override_in_another_language', 'ignore_instructions'])
/** A correction is short. */
const maxUnits = 200
/** Left to the judge; 4 convict. */
const correctingPoints = 3

/**
 * Lowers the suspicion where a user takes back an own request in another language and says what to do
 * instead.
 */
export function discountCorrection(text: string, suspicion: Suspicion): Suspicion {
  const { points, kinds } = suspicion
  if (points <= correctingPoints || text.length > maxUnits || !kinds.every((kind) => corrections.has(kind)))
    return suspicion
  return instead.test(text) && !ofModel.test(text) ? { ...suspicion, points: correctingPoints } : suspicion
}
