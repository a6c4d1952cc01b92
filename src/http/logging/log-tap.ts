/**
 * Takes every line of the log, as JSON and already masked, to one more place. The log exists before that place does, so the first
 * lines are kept for it.
 */
export interface LogTap {
  take(line: string): void
  /** From now on lines go to `to`; null: nowhere. */
  open(to: ((line: string) => void) | null): void
}

/** A start writes a few lines. */
const MOST_KEPT = 256

export function createLogTap(): LogTap {
  let kept: string[] = []
  let to: ((line: string) => void) | null = (line) => {
    if (kept.length < MOST_KEPT) kept.push(line)
  }
  return {
    take: (line) => to?.(line),
    open(next) {
      const early = kept
      kept = []
      to = next
      for (const line of early) next?.(line)
    },
  }
}
