import type { Io } from './io.ts'
import { CLEAR_LINE, canRedraw } from './terminal-text.ts'

export type ProgressLine = ReturnType<typeof createProgressLine>

/** A line that is drawn over. */
export function createProgressLine({ stderr, env }: Pick<Io, 'stderr' | 'env'>) {
  const write = canRedraw(stderr, env) ? (text: string) => void stderr.write(`${CLEAR_LINE}${text}`) : () => {}
  return {
    // A wrapped line could not be drawn over.
    show: (text: string) => write(text.slice(0, (stderr.columns || 80) - 1)),
    clear: () => write(''),
  }
}
