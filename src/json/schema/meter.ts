// The bound on what one check may cost. Schemas and values are strangers' words: neither may hold up everybody else.

/** Values looked at, names compared, steps of patterns, texts by their length: some tens of milliseconds at most. */
const MAX_WORK = 500_000
/** Going through this much of a text takes about as long as looking at a value. */
const CHARS_PER_WORK = 16
const MAX_NESTED_CALLS = 1_500

/** A value that is not gone through to its end; the message is for whoever wrote it. */
export class Unchecked extends Error {}

export interface Meter {
  /** Before the work is done. */
  spend(work: number): void
  /** For going through a text once. */
  spendOn(text: string): void
  /** Runs one level deeper. */
  nested<T>(task: () => T): T
}

export function createMeter(): Meter {
  let work = 0
  let depth = 0
  const refuse = () => new Unchecked('the value is too large to be checked against its schema; send less at once')
  const spend = (more: number): void => {
    work += more
    if (work > MAX_WORK) throw refuse()
  }
  return {
    spend,
    spendOn: (text) => spend(1 + Math.ceil(text.length / CHARS_PER_WORK)),
    nested(task) {
      depth += 1
      if (depth > MAX_NESTED_CALLS) throw refuse()
      const result = task()
      depth -= 1
      return result
    },
  }
}
