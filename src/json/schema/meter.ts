// The bound on what one check may cost. Strangers send schemas and values: neither may hold up everybody else.

import { isRecord } from '../../domain/is-record.ts'

/** Counts values, names, steps of patterns, and texts by their length. This much takes some tens of milliseconds at most. */
const MAX_WORK = 500_000
/** Reading this many characters takes about as long as looking at a value. */
const CHARS_PER_WORK = 16
const MAX_NESTED_CALLS = 1_500

/** Thrown when a value is not checked to its end. The message is for whoever wrote the value. */
export class Unchecked extends Error {}

export interface Meter {
  /** Call it before the work is done. */
  spend(work: number): void
  /** For reading a text once. */
  spendOn(text: string): void
  /** Runs a task one level deeper. */
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

// What writing a value down costs for each scalar, list or object, and name. Names are sorted. Looking up a name costs 1.
const SCALAR_WORK = 3
const NEST_WORK = 8
const NAME_WORK = 8

/** Spends what it costs to write a value down. */
export function weigh(value: unknown, meter: Meter): void {
  if (Array.isArray(value)) {
    meter.spend(NEST_WORK)
    for (const item of value) weigh(item, meter)
  } else if (isRecord(value)) {
    meter.spend(NEST_WORK)
    for (const [key, item] of Object.entries(value)) {
      meter.spend(NAME_WORK)
      meter.spendOn(key)
      weigh(item, meter)
    }
  } else {
    meter.spend(SCALAR_WORK)
    if (typeof value === 'string') meter.spendOn(value)
  }
}
