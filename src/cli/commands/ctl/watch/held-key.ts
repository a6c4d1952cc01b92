import type { Clock } from '../../../../domain/clock.ts'
import type { Key } from './watch-state.ts'

/** A held key comes again within this time, and then many times a second. */
const FIRST_MS = 1_000
/** Nobody presses a key so fast. */
const NEXT_MS = 100

interface HeldKeyOptions {
  clock: Pick<Clock, 'now' | 'after'>
  /** Other keys may be held, to scroll or to write. */
  decides: (key: Key) => boolean
  onKey: (key: Key) => void
}

/** Terminals do not say that a key is held, but it must decide once. So when it comes again, it waits whether it comes a third time at once. */
export function createHeldKey({ clock, decides, onKey }: HeldKeyOptions): (key: Key) => void {
  let last = { text: '', at: Number.NEGATIVE_INFINITY }
  let takeBack = (): void => {}
  return (key) => {
    const at = clock.now()
    const since = key.text === last.text ? at - last.at : FIRST_MS
    last = { text: key.text, at }
    takeBack()
    if (since >= FIRST_MS || !decides(key)) onKey(key)
    else if (since >= NEXT_MS) takeBack = clock.after(NEXT_MS, () => onKey(key))
  }
}
