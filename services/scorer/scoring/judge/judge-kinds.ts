/** How a judge is asked and answers: with our rubrics and as JSON, or as one of two families of guard models. */
export const judgeKinds = ['json', 'qwen3guard', 'llama_guard'] as const
export type JudgeKind = (typeof judgeKinds)[number]

/** Guard models bring their own policy: they are given the conversation alone, and answer in a fixed format. */
export type GuardKind = Exclude<JudgeKind, 'json'>
