import type { CaseResult } from '../../../evaluation/case-result.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'

interface TestProgress {
  begin(name: string): void
  result(result: CaseResult): void
  /** Removes the bar from the screen, for good. */
  clear(): void
}

const BAR_WIDTH = 20
const CLEAR_LINE = '\r\x1b[2K'

/** A progress bar. Not in a pipe, a dumb terminal or CI, where it would fill the log. */
export function createTestProgress(total: number, { stderr, env }: Pick<Io, 'stderr' | 'env'>): TestProgress {
  if (stderr.isTTY !== true || env.TERM === 'dumb' || env.CI) return { begin() {}, result() {}, clear() {} }
  const style = styleFor(stderr, env)
  let done = 0
  let wrong = 0
  let latest = ''
  let cleared = false

  function draw(): void {
    if (cleared) return
    const full = Math.round((done / total) * BAR_WIDTH)
    const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`
    const count = ` ${done}/${total}`
    const failures = wrong === 0 ? '' : `  ${wrong} failed`
    // A wrapped line could not be drawn over.
    const room = (stderr.columns || 80) - BAR_WIDTH - count.length - failures.length - 3
    stderr.write(
      `${CLEAR_LINE}${bar}${count}${style.red(failures)}  ${style.dim(terminalLine(latest, Math.max(room, 0)))}`,
    )
  }
  return {
    begin(name) {
      latest = name
      draw()
    },
    result({ outcome }) {
      done += 1
      if (outcome === 'failed' || outcome === 'error') wrong += 1
      draw()
    },
    clear() {
      if (!cleared) stderr.write(CLEAR_LINE)
      cleared = true
    },
  }
}
