import { isRecord } from '../../domain/is-record.ts'
import type { Meter } from './meter.ts'

// Its scalars, its lists and objects, the names, which are sorted; where a name that is looked up costs 1.
const SCALAR_WORK = 3
const NEST_WORK = 8
const NAME_WORK = 8

/** Spends what writing a value down costs. */
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
