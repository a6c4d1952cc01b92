import type { Io } from './io.ts'

export interface ProgressLine {
  show(text: string): void
  clear(): void
}

const CLEAR_LINE = '\r\x1b[2K'

/** A line that is drawn over. Not in a pipe, a dumb terminal or CI, where it would fill the log. */
export function createProgressLine({ stderr, env }: Pick<Io, 'stderr' | 'env'>): ProgressLine {
  if (stderr.isTTY !== true || env.TERM === 'dumb' || env.CI) return { show() {}, clear() {} }
  return {
    // A wrapped line could not be drawn over.
    show: (text) => void stderr.write(`${CLEAR_LINE}${text.slice(0, (stderr.columns || 80) - 1)}`),
    clear: () => void stderr.write(CLEAR_LINE),
  }
}
