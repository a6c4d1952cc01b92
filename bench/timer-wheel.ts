/** One timer for many streams. A thousand of Node's timers would cost more than the tokens they send. */
interface TimerWheel {
  /** Calls `fire` every `ms` (1 to 1000) on average, first after `ms`, until it returns false. Makes up for late calls. */
  every(ms: number, fire: () => boolean): void
}

interface Entry {
  due: number
  readonly interval: number
  readonly fire: () => boolean
}

const SLOTS = 1024

/** `tick` calls back about every millisecond and returns a function that stops it. It runs only while a timer is set. */
export function createTimerWheel(now: () => number, tick: (turn: () => void) => () => void): TimerWheel {
  const slots: Entry[][] = Array.from({ length: SLOTS }, () => [])
  let entries = 0
  let turned = 0
  let stop: (() => void) | null = null

  function insert(entry: Entry): void {
    const slot = Math.max(Math.ceil(entry.due), turned + 1) % SLOTS
    slots[slot]?.push(entry)
  }

  function turn(): void {
    const until = Math.floor(now())
    const from = Math.max(turned + 1, until - SLOTS + 1)
    for (let at = from; at <= until; at += 1) {
      turned = at
      const slot = slots[at % SLOTS]
      if (slot === undefined || slot.length === 0) continue
      for (const entry of slot.splice(0)) {
        if (entry.fire()) {
          entry.due += entry.interval
          insert(entry)
        } else {
          entries -= 1
        }
      }
    }
    if (entries === 0) {
      stop?.()
      stop = null
    }
  }

  return {
    every(ms, fire) {
      if (!(ms >= 1 && ms <= 1000)) throw new RangeError(`an interval of 1 to 1000 ms is possible, not ${ms}`)
      if (stop === null) {
        turned = Math.floor(now())
        stop = tick(turn)
      }
      entries += 1
      insert({ due: now() + ms, interval: ms, fire })
    },
  }
}
