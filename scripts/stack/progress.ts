/** Progress on one line of a terminal, or as occasional lines elsewhere. */
export interface Progress {
  /** Null: the total is unknown, and nothing is shown. */
  show(what: string, done: number, total: number | null): void
  end(): void
}

const barWidth = 30
/** Interval of lines where they stay. */
const quietMs = 5_000

export function createProgress(output: NodeJS.WriteStream): Progress {
  let began = { what: '', done: 0, atMs: 0 }
  let shownAtMs = 0
  let shown = ''
  const write = (line: string) => {
    if (line === shown) return
    output.write(output.isTTY ? `\r\u001b[K${line}` : `${line}\n`)
    shown = line
    shownAtMs = Date.now()
  }
  let last = ''
  return {
    show(what, done, total) {
      if (total === null) return
      // Another activity has its own rate: sending says nothing about judging.
      if (began.what !== what) began = { what, done, atMs: Date.now() }
      const perSecond = ((done - began.done) / Math.max(1, Date.now() - began.atMs)) * 1_000
      const left = perSecond > 0 && done < total ? `, ${Math.ceil((total - done) / perSecond)} s left` : ''
      const filled = total === 0 ? barWidth : Math.min(barWidth, Math.floor((done / total) * barWidth))
      const bar = '#'.repeat(filled).padEnd(barWidth, '-')
      last = `[${bar}] ${what}: ${done} of ${total}, ${Math.round(perSecond)}/s${left}`
      if (output.isTTY || Date.now() - shownAtMs >= quietMs) write(last)
    },
    end() {
      write(last)
      if (output.isTTY) output.write('\n')
    },
  }
}
