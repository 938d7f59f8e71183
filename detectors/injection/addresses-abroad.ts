import { gateSource } from '../gate/gated-pattern.ts'
import { foldText } from '../phrases/fold-text.ts'

/** An assistant as it is spoken to, in the languages in which pages most often do. Folded like the text. */
const assistants = [
  String.raw`(?:à l['’ ]|cher |chère )(?:assistante?(?: ia| virtuel\w*)?|ia|modèle|chatbot)|assistant ia`,
  String.raw`(?:an (?:die|den|das|alle) |liebe[rs]? |hinweis (?:für|an) (?:die|den|das) )(?:ki|ai|ki-\w+|\w*assistent\w*|sprachmodell\w*|modell|chatbot)|ki-assistent\w*`,
  String.raw`(?:al |a la |para (?:el|la) |estimad[oa] )(?:asistente(?: de ia| virtual)?|ia|modelo|chatbot)|asistente de ia`,
  String.raw`(?:all['’ ]|cara |caro )(?:assistente(?: ia| virtuale)?|ia|intelligenza artificiale|modello)|assistente ia`,
  String.raw`(?:ao |à |para (?:o|a) |car[oa] )(?:assistente(?: de ia| virtual)?|ia|modelo|chatbot)|assistente de ia`,
  String.raw`(?:aan de |beste )(?:ai|ai-\w+|assistent|taalmodel|chatbot)|ai-assistent`,
  String.raw`(?:do |drogi )(?:asystenta(?: ai)?|modelu(?: językowego)?|sztucznej inteligencji)|asystencie(?: ai)?`,
  String.raw`(?:yapay zeka|yz) (?:asistanı|modeli)`,
  'ии-ассистент|ассистент ии|ии-помощник|нейросеть|языковая модель|искусственный интеллект',
  'ai助手|ai助理|人工智能助手|智能助手|大模型|语言模型',
  'aiアシスタント(?:へ|は|に|よ)?|アシスタントへ|言語モデルへ',
  'ai 어시스턴트|ai 비서|인공지능',
]

/** `\b` knows ASCII letters alone. */
const beyondLatin = /[^\P{L}\p{Script=Latin}]/u

/** "À l'assistant IA : …": addressed, then told something. */
export const addressesAbroad = assistants.map((assistant) => {
  const isLatin = !beyondLatin.test(assistant)
  // Without a colon, sentences about models begin so too.
  const [start, end] = isLatin ? [String.raw`\b`, '[:,!]'] : ['', '[:：]']
  return gateSource(`${start}(?:${foldText(assistant).text})\\s{0,2}${end}`)
})
