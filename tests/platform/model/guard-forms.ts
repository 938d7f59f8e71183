import type { GuardKind } from '#services/scorer/scoring/judge/judge-kinds.ts'

/** How a model is made to speak as a guard: a chat template with a policy, and a grammar for its answers. */
interface GuardForm {
  template: string
  grammar: string
}

/**
 * A template in the manner of guards': it takes users' and assistants' messages in alternation, refuses
 * everything else, and asks about the last one.
 */
function templateOf(policy: string): string {
  return [
    "{%- for message in messages %}{%- if message['role'] != ['user', 'assistant'][loop.index0 % 2] %}",
    "{{- raise_exception('roles must alternate') }}{%- endif %}{%- endfor %}",
    `Task: ${policy}\n`,
    "{%- for message in messages %}\n{{ message['role'] }}: {{ message['content'] }}{%- endfor %}\n",
    'Your assessment of the last message:\n',
  ].join('')
}

const qwenNames = ['Violent', 'Non-violent Illegal Acts', 'PII', 'Suicide & Self-Harm', 'Unethical Acts']

/** With these, a small model answers in a guard's format. What it says means nothing. */
export const guardForms: Readonly<Record<GuardKind, GuardForm>> = {
  qwen3guard: {
    template: templateOf(
      'Say whether it is safe, controversial or unsafe, and its categories. {%- set side = messages[-1].role %}',
    ),
    // Whether the third line is written depends on the template in a real guard; here the model chooses.
    grammar: [
      'root ::= (safe | unsafe) refusal?',
      String.raw`safe ::= "Safety: Safe\nCategories: None"`,
      String.raw`unsafe ::= "Safety: " ("Unsafe" | "Controversial") "\nCategories: " category (", " category)?`,
      `category ::= ${qwenNames.map((name) => JSON.stringify(name)).join(' | ')}`,
      String.raw`refusal ::= "\nRefusal: " ("Yes" | "No")`,
    ].join('\n'),
  },
  llama_guard: {
    template: templateOf('Say "safe", or "unsafe" with the hazards from S1 to S14 on a second line.'),
    grammar: String.raw`root ::= "safe" | "unsafe\nS" ([1-9] | "1" [0-4]) (",S" ([1-9] | "1" [0-4]))?`,
  },
}
