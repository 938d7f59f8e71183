import { isAskedFor, isOverreachKind } from './overreach.ts'

/** Confirmation by the user after being asked. */
const agrees =
  /\b(?:yes|confirmed|confirm|go ahead|proceed|do it|i am sure|i'm sure|approved|sure|ok(?:ay)?)\b[^?]{0,80}$/iu
/** An order to delete. */
const orders =
  /\b(?:delete|remove|drop|wipe|destroy|truncate|erase|purge|clear|reset|force[- ]push|tear down|clean out|get rid of|nuke|uninstall|overwrite|terminate|shut down|revoke|(?:delet|remov|dropp|wip|eras|purg|clear|clean|uninstall)ing)\b|(?<!\p{L})(?:lösch|entferne|borra|elimina|supprim|effac|apaga|excluir|verwijder|usuń|skasuj|удал|очист|стер)\p{L}*|删|清空|移除|削除|消して|삭제|지워|احذف|हटा/iu

/** Not an order: prohibitions and questions. */
const noOrder =
  /\b(?:don'?t|do not|never|without|avoid|not(?: to)?)\b(?:[ ,]{1,2}[\w']{1,20}){0,6}|(?<=^|[.!?\n]\s{0,4})(?:how|what|why|when|where|which|who|is|are|was|were|does|did|explain|describe)\b[^.?!\n]{0,300}\?/gi

/** What users said in a call. */
export interface UserWords {
  last: string
  all: string
}

/** Tells which kinds of acts the user ordered. Nobody's words are known in a tool-call record. */
export function createAskedTest({ last, all }: UserWords): (kind: string) => boolean {
  const allOrders = all.replace(noOrder, ' ')
  const isDeletion = orders.test(last.replace(noOrder, ' '))
  return (kind) => (isOverreachKind(kind) ? isAskedFor(kind, allOrders) : isDeletion)
}

/** True if the user's last words confirm what was proposed. */
export function hasConfirmed({ last }: UserWords): boolean {
  return agrees.test(last.replace(noOrder, ' '))
}

/** A turn that only wants to know something. */
const wantsToKnow =
  /^\s{0,20}(?:(?:hi|hello|hey|please|ok|so|and|can you|could you|would you|i'd like to|i want to|let's)[ ,!.]{1,3}){0,3}(?:what|which|who|when|where|why|how|is|are|was|were|does|do|did|has|have|show|list|count|tell me|give me (?:a|an|the) (?:list|count|overview|status|summary|report|number)|summari[sz]e|report|check|explain|describe|display|look (?:up|at)|find out|look for|read|status|overview|get|compare|analy[sz]e|review|see)\b/i
const changes =
  /\b(?:delet\w+|remov\w+|updat\w+|chang\w+|set|fix\w*|clean\w*|edit\w*|insert\w*|add\w*|creat\w+|writ\w+|mov\w+|mark\w*|drop\w*|purg\w+|clear\w*|archiv\w+|cancel\w*|renam\w+|replac\w+|reset\w*|merg\w+|migrat\w+|correct\w*|apply|make|put|run|execut\w+|expir\w+|prun\w+|truncat\w+|get rid|close|resolv\w+|process\w*|then|and (?:then )?do)\b/i

/** True if the user asked a question or for a list, and for no change of any kind. */
export function onlyAsksToRead({ last }: UserWords): boolean {
  return last.length < 2_000 && wantsToKnow.test(last) && !changes.test(last) && !agrees.test(last)
}
