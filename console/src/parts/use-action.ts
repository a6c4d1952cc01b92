import { useState } from 'react'

/** Something that one does with a press, and that may fail. */
export function useAction() {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  return {
    isBusy,
    /** Why the last try did not work. Null: it did, or there was none. */
    error,
    /** True: it worked. Nothing happens while an earlier try is on its way. */
    async run(work: () => Promise<void>): Promise<boolean> {
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
