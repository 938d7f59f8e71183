import { objectOf, textOf, type JsonObject } from '../json.ts'
import { grownFrom, listIn, maxIndex, mergeDelta, type Growing } from './merge-delta.ts'

/** Where a kind of delta belongs within an item. */
interface Location {
  /** Type of the item, if only deltas arrive. */
  item: string
  /** For a part: its list, the field of its index, and its type. */
  part?: readonly [list: string, index: string, kind: string]
  /** Member of the item that holds it. */
  within?: string
  /** Field of the text, both in the item and in the final event. */
  name: string
}

const transcript = {
  item: 'message',
  part: ['content', 'content_index', 'output_audio'],
  name: 'transcript',
} as const

/** By the name between `response.` and `.delta`; some versions use dots instead of underscores. */
const locations: ReadonlyMap<string, Location> = new Map<string, Location>([
  ['output_text', { item: 'message', part: ['content', 'content_index', 'output_text'], name: 'text' }],
  // Of Realtime's beta.
  ['text', { item: 'message', part: ['content', 'content_index', 'text'], name: 'text' }],
  ['refusal', { item: 'message', part: ['content', 'content_index', 'refusal'], name: 'refusal' }],
  ['audio_transcript', transcript],
  ['output_audio_transcript', transcript],
  [
    'reasoning_text',
    { item: 'reasoning', part: ['content', 'content_index', 'reasoning_text'], name: 'text' },
  ],
  [
    'reasoning_summary_text',
    { item: 'reasoning', part: ['summary', 'summary_index', 'summary_text'], name: 'text' },
  ],
  ['function_call_arguments', { item: 'function_call', name: 'arguments' }],
  ['mcp_call_arguments', { item: 'mcp_call', name: 'arguments' }],
  ['custom_tool_call_input', { item: 'custom_tool_call', name: 'input' }],
  ['code_interpreter_call_code', { item: 'code_interpreter_call', name: 'code' }],
  ['apply_patch_call_operation_diff', { item: 'apply_patch_call', within: 'operation', name: 'diff' }],
  ['shell_call_command', { item: 'shell_call', within: 'action', name: 'command' }],
])

/** Audio is not read, and would take megabytes. */
const media: ReadonlySet<string> = new Set(['audio', 'output_audio'])

/** Whether a delta of this type is read and has a known location. */
export function growsItem(type: string): boolean {
  return type.endsWith('.delta') && locations.has(kindOf(type))
}

/** Whether an event of this type changes an item. */
export function isOfItem(type: string): boolean {
  return type.endsWith('.delta') || (type.endsWith('.done') && locations.has(kindOf(type)))
}

/** Whether the event belongs to a transcript, which may name no item. */
export function isSpoken(type: string): boolean {
  return locations.get(kindOf(type)) === transcript
}

function kindOf(type: string): string {
  return type
    .replace(/^response\./, '')
    .replace(/\.(?:delta|done)$/, '')
    .replaceAll('.', '_')
}

/** Applies a delta, or the complete text, to an item. Unknown kinds are kept under their own name. */
export function applyToItem(item: Growing, type: string, chunk: JsonObject): void {
  const kind = kindOf(type)
  const location = locations.get(kind)
  const { delta } = chunk
  if (location === undefined) {
    if (!media.has(kind)) mergeDelta(item, { [kind]: delta })
    return
  }
  item['type'] ??= location.item
  const whole = type.endsWith('.done') ? textOf(chunk[location.name]) : undefined
  const next = (known: unknown) => whole ?? (textOf(known) ?? '') + (typeof delta === 'string' ? delta : '')
  if (kind === 'shell_call_command') {
    const commands = listIn(memberOf(item, 'action'), 'commands')
    const at = positionIn(commands, chunk['command_index'])
    commands[at] = next(commands[at])
    return
  }
  const holder =
    location.part === undefined ? memberOf(item, location.within) : partOf(item, location.part, chunk)
  holder[location.name] = next(holder[location.name])
}

function memberOf(item: Growing, name: string | undefined): Growing {
  if (name === undefined) return item
  const member = grownFrom(objectOf(item[name]))
  item[name] = member
  return member
}

function partOf(
  item: Growing,
  [list, index, kind]: readonly [string, string, string],
  chunk: JsonObject,
): Growing {
  const parts = listIn(item, list)
  const at = positionIn(parts, chunk[index])
  const part = grownFrom(objectOf(parts[at]) ?? { type: kind })
  parts[at] = part
  return part
}

/** Index of the part, or of a new one after the last; beyond the limit the last. */
function positionIn(parts: readonly unknown[], index: unknown): number {
  const last = parts.length < maxIndex ? parts.length : parts.length - 1
  return Number.isInteger(index) ? Math.min(Math.max(index as number, 0), last) : 0
}
