import { useState } from 'react'

export interface Action {
  isBusy: boolean
  /** Why the last try did not work. Null: it did, or there was none. */
  error: unknown
  /** True: it worked. Nothing happens while an earlier try is on its way. */
  run(work: () => Promise<void>): Promise<boolean>
}

/** Something that one does with a press, and that may fail. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  return {
    isBusy,
    error,
    async run(work) {
      if (isBusy) return false
      setBusy(true)
      setError(null)
      try {
        await work()
        return true
      } catch (thrown) {
        setError(thrown)
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}
