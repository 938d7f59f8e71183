/** How a judge is asked and answers: by our rubrics, as JSON, or in the format of a family of guards. */
export const judgeKinds = ['json', 'qwen3guard', 'llama_guard'] as const
export type JudgeKind = (typeof judgeKinds)[number]

/** Guard models have their own policy: they get the conversation alone, and answer in a fixed format. */
export type GuardKind = Exclude<JudgeKind, 'json'>
